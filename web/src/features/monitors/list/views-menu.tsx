/** The menu of saved views: opens one, saves the current one or deletes it. */
import { Button, Menu, TextInput } from "@mantine/core";
import { useState, type ReactElement } from "react";
import { useTexts } from "../../../shared/i18n";
import { Link, pathWith } from "../../../shared/router";
import { ActionMenu } from "../../../shared/ui/action-menu";
import { Dialog } from "../../../shared/ui/dialog";
import { ButtonRow } from "../../../shared/ui/form-layout";
import { Check, Plus, Trash } from "../../../shared/ui/icons";
import { showToast } from "../../../shared/ui/toast";
import styles from "./bulk.module.css";
import { useSavedViews } from "./saved-views";

interface Props {
  /** The query string of the current view. */
  search: string;
  button: ReactElement;
}

export default function ViewsMenu({ search, button }: Props) {
  const { views: texts } = useTexts();
  const { views, saveView, removeView } = useSavedViews();
  const [naming, setNaming] = useState(false);
  const current = views.find((view) => view.search === search);
  const remove = (name: string) => {
    removeView(name);
    showToast(texts.removed(name));
  };
  return (
    <>
      <ActionMenu defaultOpened width={240} button={button}>
        {views.map((view) => (
          <Menu.Item
            key={view.name}
            component={Link}
            to={pathWith("/", view.search)}
            aria-current={view === current || undefined}
            rightSection={view === current ? <Check /> : null}
          >
            {view.name}
          </Menu.Item>
        ))}
        {views.length === 0 && <Menu.Label>{texts.none}</Menu.Label>}
        <Menu.Divider />
        {current ? (
          <Menu.Item leftSection={<Trash />} color="red" onClick={() => remove(current.name)}>
            {texts.remove(current.name)}
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<Plus />} onClick={() => setNaming(true)}>
            {texts.save}
          </Menu.Item>
        )}
      </ActionMenu>
      {naming && (
        <NameDialog
          close={() => setNaming(false)}
          save={(name) => {
            saveView({ name, search });
            showToast(texts.saved(name));
          }}
        />
      )}
    </>
  );
}

function NameDialog({ close, save }: { close: () => void; save: (name: string) => void }) {
  const t = useTexts();
  const { views: texts } = t;
  const [name, setName] = useState("");
  return (
    <Dialog title={texts.saveTitle} close={close}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          save(name.trim());
          close();
        }}
      >
        <TextInput
          label={texts.name}
          description={texts.nameHelp}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          maxLength={60}
          data-autofocus
        />
        <ButtonRow>
          <Button variant="default" onClick={close}>
            {t.common.cancel}
          </Button>
          <Button type="submit" disabled={name.trim() === ""}>
            {t.common.save}
          </Button>
        </ButtonRow>
      </form>
    </Dialog>
  );
}
