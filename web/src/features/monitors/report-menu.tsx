/** A menu with the monthly reports, as a page or as CSV. */
import { Button, Menu } from "@mantine/core";
import { useState } from "react";
import { useLanguage, useTexts } from "../../shared/i18n";
import { ActionMenu } from "../../shared/ui/action-menu";
import { Chevron } from "../../shared/ui/icons";
import { TeamLink } from "../../shared/ui/team-link";
import { lastMonths, reportOf } from "./months";

const MONTHS = 4;

export function Reports() {
  const t = useTexts();
  const { locale } = useLanguage();
  const [months] = useState(() => lastMonths(new Date(), MONTHS));
  const name = (month: string) =>
    new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" }).format(new Date(`${month}-01`));
  return (
    <ActionMenu
      width={220}
      button={
        <Button variant="default" rightSection={<Chevron />}>
          {t.detail.report}
        </Button>
      }
    >
      {months.map((month) => (
        <Menu.Item key={month} component={TeamLink} href={reportOf(month, "html")} target="_blank" rel="noreferrer">
          {name(month)}
        </Menu.Item>
      ))}
      <Menu.Divider />
      {months.slice(0, 2).map((month) => (
        <Menu.Item key={month} component={TeamLink} href={reportOf(month, "csv")} download rightSection="CSV">
          {name(month)}
        </Menu.Item>
      ))}
    </ActionMenu>
  );
}
