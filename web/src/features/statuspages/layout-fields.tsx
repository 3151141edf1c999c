/** The sections of a page and their components. */
import { Button, MultiSelect, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { find, valuesOfSet, type ComponentChoice, type SectionCollapsed, type UptimeFrom } from "../../shared/api/closed-sets";
import { monitorsQuery } from "../../shared/api/monitors";
import { useTexts } from "../../shared/i18n";
import { FormError } from "../../shared/ui/error-notice";
import { FieldPair } from "../../shared/ui/form-layout";
import page from "../../shared/ui/form-page.module.css";
import { Chevron, Plus } from "../../shared/ui/icons";
import { Panel } from "../../shared/ui/page";
import { useMonitorOptions } from "../../shared/ui/selector-fields";
import { SortableList } from "../../shared/ui/sortable-list";
import type { PageForm } from "./edit";
import { componentStatuses } from "./statuses";
import styles from "./statuspages.module.css";
import {
  countComponents,
  MAX_COMPONENTS,
  MAX_SECTIONS,
  newComponent,
  newSection,
  toSection,
  type ComponentDisplayValues,
  type ComponentValues,
  type SectionValues,
} from "./values";

/** How many monitors a list offers at once; the others are found by name. */
const MAX_OPTIONS = 100;
const MAX_MONITORS = 200;

type Warnings = Partial<Record<string, string>>;

interface Props {
  form: PageForm;
  warnings: Warnings;
}

export function LayoutFields({ form, warnings }: Props) {
  const { statuspages: texts } = useTexts();
  const { sections } = form.values;
  const set = (next: SectionValues[]) => form.set("sections", next);
  const change = (section: SectionValues, part: Partial<SectionValues>) =>
    set(sections.map((one) => (one.key === section.key ? { ...one, ...part } : one)));
  const nameOf = (section: SectionValues, place: number) => section.name || texts.section(place + 1);
  const full = countComponents(sections) >= MAX_COMPONENTS;
  return (
    <Panel title={texts.sections} lead={texts.sectionsLead}>
      <div className={page.fields}>
        <SortableList label={texts.sections} items={sections} keyOf={({ key }) => key} nameOf={nameOf} change={set}>
          {(section, place) => (
            <fieldset className={styles.section}>
              <legend>{texts.section(place + 1)}</legend>
              <TextInput
                name={`sections.${place}.name`}
                label={texts.sectionName}
                description={texts.sectionNameHelp}
                maxLength={255}
                autoComplete="off"
                value={section.name}
                error={form.errors[`sections.${place}.name`]}
                onChange={({ currentTarget }) => change(section, { name: currentTarget.value })}
              />
              {section.name !== "" && (
                <SectionDetails section={section} prefix={`sections.${place}`} errors={form.errors} change={change} />
              )}
              <SortableList
                label={texts.componentsOf(nameOf(section, place))}
                items={section.components}
                keyOf={({ key }) => key}
                nameOf={(component, index) => component.name || texts.component(index + 1)}
                change={(components) => change(section, { components })}
              >
                {(component, index) => (
                  <ComponentFields
                    component={component}
                    prefix={`sections.${place}.components.${index}`}
                    place={index}
                    errors={form.errors}
                    warnings={warnings}
                    change={(part) =>
                      change(section, {
                        components: section.components.map((one) => (one.key === component.key ? { ...one, ...part } : one)),
                      })
                    }
                    remove={() => change(section, { components: section.components.filter(({ key }) => key !== component.key) })}
                    elsewhere={sections
                      .map((one, at) => ({ value: one.key, label: nameOf(one, at) }))
                      .filter(({ value }) => value !== section.key)}
                    move={(to) => set(toSection(sections, component, to))}
                  />
                )}
              </SortableList>
              <div className={styles.line}>
                <Button
                  variant="default"
                  size="xs"
                  leftSection={<Plus />}
                  disabled={full}
                  onClick={() => change(section, { components: [...section.components, newComponent()] })}
                >
                  {texts.addComponent}
                </Button>
                {sections.length > 1 && (
                  <Button variant="subtle" color="red" size="xs" onClick={() => set(sections.filter(({ key }) => key !== section.key))}>
                    {texts.removeSection}
                  </Button>
                )}
              </div>
            </fieldset>
          )}
        </SortableList>
        <FormError text={form.errors.sections ?? null} />
        {sections.length < MAX_SECTIONS && (
          <div>
            <Button variant="default" leftSection={<Plus />} onClick={() => set([...sections, newSection()])}>
              {texts.addSection}
            </Button>
          </div>
        )}
      </div>
    </Panel>
  );
}

interface SectionProps {
  section: SectionValues;
  prefix: string;
  errors: Warnings;
  change: (section: SectionValues, part: Partial<SectionValues>) => void;
}

const collapses = valuesOfSet<SectionCollapsed>({ inherit: true, never: true, always: true, operational: true });

/** What only a section with a heading has. */
function SectionDetails({ section, prefix, errors, change }: SectionProps) {
  const { statuspages: texts } = useTexts();
  const { description, collapsed } = section;
  return (
    <FieldPair wide>
      <TextInput
        name={`${prefix}.description`}
        label={texts.componentDescription}
        maxLength={2000}
        autoComplete="off"
        value={description}
        error={errors[`${prefix}.description`]}
        onChange={({ currentTarget }) => change(section, { description: currentTarget.value })}
      />
      <Select
        name={`${prefix}.collapsed`}
        label={texts.display.collapsed}
        data={collapses.map((value) => ({ value, label: value === "inherit" ? texts.asPage : texts.display.collapses[value] }))}
        allowDeselect={false}
        value={collapsed}
        error={errors[`${prefix}.collapsed`]}
        onChange={(value) => change(section, { collapsed: find(collapses, value) ?? collapsed })}
      />
    </FieldPair>
  );
}

interface ComponentProps {
  component: ComponentValues;
  /** The path of its fields in errors and warnings. */
  prefix: string;
  place: number;
  errors: Warnings;
  warnings: Warnings;
  change: (part: Partial<ComponentValues>) => void;
  remove: () => void;
  /** The other sections. */
  elsewhere: { value: string; label: string }[];
  move: (section: string) => void;
}

/** One line, with the fields below it when it is open. */
function ComponentFields({ component, prefix, place, errors, warnings, change, remove, elsewhere, move }: ComponentProps) {
  const t = useTexts();
  const { statuspages: texts } = t;
  const [opened, setOpened] = useState(component.componentid === undefined && component.monitors.length === 0);
  const hasError = Object.keys(errors).some((field) => field.startsWith(`${prefix}.`) && errors[field] !== undefined);
  const open = opened || hasError;
  const nameWarning = warnings[`${prefix}.name`];
  const monitorsWarning = warnings[`${prefix}.monitors`];
  return (
    <div className={styles.component}>
      <div className={styles.componentHead}>
        <button type="button" className={styles.toggle} aria-expanded={open} onClick={() => setOpened(!open)}>
          <Chevron />
          <span>{component.name || texts.component(place + 1)}</span>
          <span className={styles.quiet}>{summaryOf(component, texts)}</span>
        </button>
        <Button
          variant="subtle"
          color="red"
          size="xs"
          aria-label={texts.removeComponent(component.name || texts.component(place + 1))}
          onClick={remove}
        >
          {t.common.remove}
        </Button>
      </div>
      {!open && (nameWarning || monitorsWarning) && (
        <p className={styles.warning}>{nameWarning ? texts.nameWarning : texts.monitorsWarning}</p>
      )}
      {open && (
        <div className={page.fields}>
          <TextInput
            name={`${prefix}.name`}
            label={t.form.name}
            description={nameWarning ? <span className={styles.warning}>{texts.nameWarning}</span> : texts.componentNameHelp}
            maxLength={255}
            autoComplete="off"
            value={component.name}
            error={errors[`${prefix}.name`]}
            onChange={({ currentTarget }) => change({ name: currentTarget.value })}
          />
          <MonitorFields component={component} prefix={prefix} errors={errors} warning={monitorsWarning} change={change} />
          <Textarea
            name={`${prefix}.description`}
            label={texts.componentDescription}
            rows={1}
            autosize
            maxRows={6}
            maxLength={2000}
            value={component.description}
            error={errors[`${prefix}.description`]}
            onChange={({ currentTarget }) => change({ description: currentTarget.value })}
          />
          <Switch
            name={`${prefix}.only_show_if_degraded`}
            label={texts.onlyIfDegraded}
            checked={component.only_show_if_degraded}
            onChange={({ currentTarget }) => change({ only_show_if_degraded: currentTarget.checked })}
          />
          <MoreFields component={component} prefix={prefix} errors={errors} change={change} />
          {elsewhere.length > 0 && (
            <Select
              label={texts.moveTo}
              placeholder={texts.chooseSection}
              data={elsewhere}
              value={null}
              onChange={(to) => to !== null && move(to)}
            />
          )}
        </div>
      )}
    </div>
  );
}

const uptimes = valuesOfSet<UptimeFrom>({ monitors: true, incidents: true, none: true });

const choices = valuesOfSet<ComponentChoice>({ inherit: true, yes: true, no: true });
const shownParts = ["uptime", "response_time", "certificate"] as const satisfies readonly (keyof ComponentDisplayValues)[];

/** What few components need. */
function MoreFields({ component, prefix, errors, change }: Pick<ComponentProps, "component" | "prefix" | "errors" | "change">) {
  const { statuspages: texts } = useTexts();
  const { link, alias, uptime_from, display } = component;
  return (
    <>
      <FieldPair wide>
        <TextInput
          name={`${prefix}.link`}
          type="url"
          label={texts.link}
          description={texts.linkHelp}
          placeholder="https://example.com"
          maxLength={2048}
          autoComplete="off"
          value={link}
          error={errors[`${prefix}.link`]}
          onChange={({ currentTarget }) => change({ link: currentTarget.value })}
        />
        <TextInput
          name={`${prefix}.alias`}
          label={texts.alias}
          description={texts.aliasHelp}
          maxLength={64}
          autoComplete="off"
          spellCheck={false}
          value={alias}
          error={errors[`${prefix}.alias`]}
          onChange={({ currentTarget }) => change({ alias: currentTarget.value })}
        />
      </FieldPair>
      <Select
        name={`${prefix}.uptime_from`}
        label={texts.uptimeFrom}
        placeholder={texts.uptimes.automatic}
        data={uptimes.map((value) => ({ value, label: texts.uptimes[value] }))}
        allowDeselect={false}
        value={uptime_from ?? null}
        error={errors[`${prefix}.uptime_from`]}
        onChange={(value) => change({ uptime_from: find(uptimes, value) ?? uptime_from })}
      />
      <div className={styles.filters}>
        {shownParts.map((part) => (
          <Select
            key={part}
            name={`${prefix}.display.${part}`}
            label={texts.componentDisplay[part]}
            data={choices.map((value) => ({ value, label: texts.displayChoices[value] }))}
            allowDeselect={false}
            value={display[part]}
            error={errors[`${prefix}.display.${part}`]}
            onChange={(value) => change({ display: { ...display, [part]: find(choices, value) ?? display[part] } })}
          />
        ))}
      </div>
    </>
  );
}

function summaryOf({ monitors, tag, own_status }: ComponentValues, texts: ReturnType<typeof useTexts>["statuspages"]): string {
  const parts = [...(monitors.length > 0 ? [texts.monitorCount(monitors.length)] : []), ...(tag === "" ? [] : [texts.withTag(tag)])];
  return parts.length > 0 ? parts.join(", ") : texts.componentStatuses[own_status ?? "unknown"];
}

interface MonitorProps {
  component: ComponentValues;
  prefix: string;
  errors: Warnings;
  warning: string | undefined;
  change: (part: Partial<ComponentValues>) => void;
}

/** Where the status comes from: monitors by name or tag, or the team itself. */
function MonitorFields({ component: { monitors, tag, needs, own_status }, prefix, errors, warning, change }: MonitorProps) {
  const { statuspages: texts } = useTexts();
  const { data } = useQuery(monitorsQuery);
  const options = useMonitorOptions(monitors);
  const tags = useMemo(() => {
    const known = (data ?? []).flatMap((monitor) => monitor.tags);
    return [...new Set([...known, ...(tag === "" ? [] : [tag])])].sort();
  }, [data, tag]);
  const isManual = monitors.length === 0 && tag === "";
  return (
    <>
      <FieldPair wide>
        <MultiSelect
          name={`${prefix}.monitors`}
          label={texts.monitors}
          description={warning ? <span className={styles.warning}>{texts.monitorsWarning}</span> : texts.monitorsHelp}
          data={options}
          limit={MAX_OPTIONS}
          maxValues={MAX_MONITORS}
          searchable
          hidePickedOptions
          value={monitors}
          error={errors[`${prefix}.monitors`]}
          onChange={(value) => change({ monitors: value })}
        />
        <Select
          name={`${prefix}.tag`}
          label={texts.tag}
          description={texts.tagHelp}
          data={tags}
          limit={MAX_OPTIONS}
          searchable
          clearable
          value={tag === "" ? null : tag}
          error={errors[`${prefix}.tag`]}
          onChange={(value) => change({ tag: value ?? "" })}
        />
      </FieldPair>
      {isManual ? (
        <Select
          name={`${prefix}.own_status`}
          label={texts.ownStatus}
          description={texts.ownStatusHelp}
          data={componentStatuses.map((value) => ({ value, label: texts.componentStatuses[value] }))}
          allowDeselect={false}
          placeholder={texts.componentStatuses.unknown}
          value={own_status}
          error={errors[`${prefix}.own_status`]}
          onChange={(value) => change({ own_status: find(componentStatuses, value) ?? own_status })}
        />
      ) : (
        (monitors.length > 1 || tag !== "") && (
          <TextInput
            name={`${prefix}.needs`}
            label={texts.needs}
            description={texts.needsHelp}
            maxLength={4}
            autoComplete="off"
            value={needs}
            error={errors[`${prefix}.needs`]}
            onChange={({ currentTarget }) => change({ needs: currentTarget.value })}
          />
        )
      )}
    </>
  );
}
