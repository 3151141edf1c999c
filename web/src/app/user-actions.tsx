/** The user's menu: teams, appearance, language, shortcuts and logging out. */
import { Menu } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import type { ComponentType, ReactElement } from "react";
import { logOut, useMe } from "../shared/api/session";
import { teamsQuery } from "../shared/api/teams";
import { useLanguage, useTexts } from "../shared/i18n";
import { Link } from "../shared/router";
import { ActionMenu } from "../shared/ui/action-menu";
import { useErrorMessage } from "../shared/ui/error-message";
import { Globe, Keyboard, Moon, Out, Screen, Shield, Sun } from "../shared/ui/icons";
import { useScheme, type Choice } from "../shared/ui/scheme";
import { showToast } from "../shared/ui/toast";
import { TeamItems } from "./team-items";

const schemes: [Choice, ComponentType][] = [
  ["system", Screen],
  ["light", Sun],
  ["dark", Moon],
];

interface Props {
  button: ReactElement;
  openDialog: (which: "help" | "everywhere" | "team") => void;
}

export default function UserActions({ button, openDialog }: Props) {
  const t = useTexts();
  const { language, setLanguage } = useLanguage();
  const { chosen, choose } = useScheme();
  const client = useQueryClient();
  const errorMessage = useErrorMessage();
  const { isLoading } = useQuery(teamsQuery);
  const { admin } = useMe();
  const leave = () => {
    logOut(client, false).catch((error: unknown) => showToast(errorMessage(error), true));
  };
  // The teams are its first items, so it opens with them.
  if (isLoading) return button;
  return (
    <ActionMenu defaultOpened position="top-start" width={220} button={button}>
      <TeamItems create={() => openDialog("team")} />
      {admin && (
        <>
          <Menu.Divider />
          <Menu.Item component={Link} to="/admin" leftSection={<Shield />}>
            {t.admin.title}
          </Menu.Item>
        </>
      )}
      <Menu.Divider />
      <Menu.Label>{t.nav.appearance}</Menu.Label>
      {schemes.map(([choice, Icon]) => (
        <Menu.Item
          key={choice}
          leftSection={<Icon />}
          rightSection={chosen === choice ? "•" : null}
          aria-current={chosen === choice}
          onClick={() => choose(choice)}
        >
          {t.nav.schemes[choice]}
        </Menu.Item>
      ))}
      <Menu.Divider />
      <Menu.Item leftSection={<Globe />} onClick={() => setLanguage(language === "en" ? "de" : "en")}>
        {t.common.otherLanguage}
      </Menu.Item>
      <Menu.Item leftSection={<Keyboard />} onClick={() => openDialog("help")} rightSection={<kbd>?</kbd>}>
        {t.nav.keys}
      </Menu.Item>
      <Menu.Divider />
      <Menu.Item leftSection={<Out />} onClick={leave}>
        {t.nav.logOut}
      </Menu.Item>
      <Menu.Item leftSection={<Out />} onClick={() => openDialog("everywhere")}>
        {t.nav.logOutAll}
      </Menu.Item>
    </ActionMenu>
  );
}
