/** The layers of a schedule's form: people in the order of their turns, and when these are. */
import { Button, NumberInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { teamQuery, useMemberName } from "../../../shared/api/team";
import { useTexts } from "../../../shared/i18n";
import { FormError } from "../../../shared/ui/error-notice";
import type { Form } from "../../../shared/ui/form";
import { FieldPair } from "../../../shared/ui/form-layout";
import page from "../../../shared/ui/form-page.module.css";
import { HoursField } from "../../../shared/ui/hours-field";
import { Cross, Plus } from "../../../shared/ui/icons";
import { Panel } from "../../../shared/ui/page";
import { SortableList } from "../../../shared/ui/sortable-list";
import styles from "../oncall.module.css";
import { newLayer, type LayerValues, type Values } from "./values";

const MAX_LAYERS = 10;
const MAX_USERS = 50;
const MAX_EVERY = 52;

export function Layers({ form }: { form: Form<Values> }) {
  const { oncall } = useTexts();
  const { layers } = form.values;
  return (
    <Panel title={oncall.layers} lead={oncall.layersLead}>
      <div className={page.fields}>
        <SortableList
          label={oncall.layers}
          items={layers}
          keyOf={({ key }) => key}
          nameOf={({ name }, place) => name || oncall.layer(place + 1)}
          change={(items) => form.set("layers", items)}
        >
          {(layer, place) => <LayerFields form={form} layer={layer} place={place} />}
        </SortableList>
        <FormError text={form.errors.layers ?? null} />
        {layers.length < MAX_LAYERS && (
          <div>
            <Button variant="default" leftSection={<Plus />} onClick={() => form.set("layers", [...layers, newLayer(Date.now())])}>
              {oncall.addLayer}
            </Button>
          </div>
        )}
      </div>
    </Panel>
  );
}

function LayerFields({ form, layer, place }: { form: Form<Values>; layer: LayerValues; place: number }) {
  const t = useTexts();
  const { oncall } = t;
  const { layers } = form.values;
  const set = (part: Partial<LayerValues>) =>
    form.set(
      "layers",
      layers.map((one) => (one.key === layer.key ? { ...one, ...part } : one)),
    );
  const error = (field: string) => form.errors[`layers.${place}.${field}`];
  return (
    <fieldset className={styles.block}>
      <legend>{oncall.layer(place + 1)}</legend>
      <TextInput
        name={`layers.${place}.name`}
        label={oncall.layerName}
        description={oncall.layerNameHelp}
        value={layer.name}
        maxLength={255}
        error={error("name")}
        autoComplete="off"
        onChange={({ currentTarget }) => set({ name: currentTarget.value })}
      />
      <People
        name={`layers.${place}.users`}
        users={layer.users}
        error={error("users")}
        change={(users) => set({ users })}
        label={oncall.peopleOf(place + 1)}
      />
      <TextInput
        type="datetime-local"
        name={`layers.${place}.starts`}
        label={oncall.starts}
        description={oncall.startsHelp}
        value={layer.starts}
        error={error("starts")}
        onChange={({ currentTarget }) => set({ starts: currentTarget.value })}
      />
      <FieldPair>
        <NumberInput
          name={`layers.${place}.every`}
          label={oncall.every}
          value={layer.every}
          error={error("every")}
          min={1}
          max={MAX_EVERY}
          allowDecimal={false}
          allowNegative={false}
          onChange={(value) => set({ every: typeof value === "number" ? value : "" })}
        />
        <Select
          name={`layers.${place}.unit`}
          label={oncall.unit}
          data={(["day", "week"] as const).map((unit) => ({ value: unit, label: oncall.units[unit] }))}
          allowDeselect={false}
          value={layer.unit}
          error={error("unit")}
          onChange={(unit) => set({ unit: unit === "day" ? "day" : "week" })}
        />
      </FieldPair>
      <HoursField
        legend={oncall.hours}
        help={oncall.hoursHelp}
        name={`layers.${place}.hours`}
        hours={layer.hours}
        errors={form.errors}
        change={(hours) => set({ hours })}
      />
      {layers.length > 1 && (
        <div className={styles.removeLine}>
          <Button
            variant="subtle"
            color="red"
            size="xs"
            aria-label={oncall.removeLayer(place + 1)}
            onClick={() =>
              form.set(
                "layers",
                layers.filter(({ key }) => key !== layer.key),
              )
            }
          >
            {t.common.remove}
          </Button>
        </div>
      )}
    </fieldset>
  );
}

interface PeopleProps {
  label: string;
  name: string;
  users: readonly string[];
  error: string | undefined;
  change: (users: string[]) => void;
}

/** People in the order of their turns. */
function People({ label, name, users, error, change }: PeopleProps) {
  const { oncall, maintenance } = useTexts();
  const nameOf = useMemberName();
  const { data: members = [] } = useQuery(teamQuery);
  const others = members
    .filter(({ userid, suspended }) => !suspended && !users.includes(userid))
    .map(({ userid, name: given, email }) => ({ value: userid, label: given || email }));
  return (
    <div className={styles.people}>
      {users.length > 0 && (
        <SortableList label={label} items={users} keyOf={(user) => user} nameOf={(user) => nameOf(user)} change={change}>
          {(user, place) => (
            <span className={styles.member}>
              <span className="num">{place + 1}.</span>
              <span>{nameOf(user)}</span>
              <button
                type="button"
                aria-label={maintenance.form.exceptRemove(nameOf(user))}
                onClick={() => change(users.filter((other) => other !== user))}
              >
                <Cross size={14} />
              </button>
            </span>
          )}
        </SortableList>
      )}
      {users.length < MAX_USERS && (others.length > 0 || users.length === 0) && (
        <Select
          name={name}
          label={oncall.addPerson}
          description={oncall.addPersonHelp}
          data={others}
          searchable
          value={null}
          error={error}
          onChange={(user) => user !== null && change([...users, user])}
        />
      )}
    </div>
  );
}
