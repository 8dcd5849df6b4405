/**
 * The form of one entity. It starts from the stored value and its revision, and publishes operations on the fields that differ. What was entered stays
 * while the user looks at other pages.
 */
import { useState } from "react"
import { Failure, Panel } from "../parts/Panel.tsx"
import { t } from "../text/T.ts"
import { checkEdit, problemsIn } from "./CheckEdit.ts"
import type { CheckedEdit, FieldProblem } from "./CheckEdit.ts"
import { FieldSet, ListField } from "./EntityField.tsx"
import { mainFields, nameFields } from "./EntityKinds.ts"
import type { FormKind } from "./EntityKinds.ts"
import { operationsBetween } from "./FieldOperations.ts"
import type { EditOperation } from "./FieldOperations.ts"
import { isSame, omitMasks, parsePath } from "./FieldValues.ts"
import type { FieldPath } from "./FieldValues.ts"
import { FormContext } from "./FormContext.ts"
import { listFields } from "./FormFields.ts"
import { PublishEdit } from "./PublishEdit.tsx"
import type { JsonSchema } from "./SchemaPath.ts"

/** Where a form starts. `stored` is undefined for a new entity. */
interface Start {
  readonly base: number
  readonly stored: unknown
}

interface Entered extends Start {
  readonly value: unknown
}

/** Values that are not published, of this page load, by entity. */
const unpublished = new Map<string, Entered>()
const maxUnpublished = 20

const remember = (key: string, entered: Entered | undefined): void => {
  unpublished.delete(key)
  if (entered === undefined) return
  unpublished.set(key, entered)
  const [oldest] = unpublished.keys()
  if (unpublished.size > maxUnpublished && oldest !== undefined) unpublished.delete(oldest)
}

const isBelow = (path: FieldPath, start: FieldPath): boolean => start.every((part, index) => path[index] === part)

/** The functions that find what a field shows. */
const makeContext = (
  kind: FormKind,
  entity: string,
  problems: ReadonlyArray<FieldProblem>,
  origins: ReadonlyMap<string, string>
) => {
  const set = new Map([...origins].map(([path, origin]) => [parsePath(path).join("."), origin] as const))
  const own = problems
    .filter((problem) => problem.entity === entity)
    .map(({ message, path }) => ({ message, path: parsePath(path) }))
  return {
    kind,
    problemsAt: (at: FieldPath) =>
      own.filter(({ path }) => path.length === at.length && isBelow(path, at)).map(({ message }) => message),
    problemsBelow: (at: FieldPath) => own.filter(({ path }) => isBelow(path, at)).map(({ message }) => message),
    originAt: (at: FieldPath) => set.get(at.join("."))
  }
}

export interface EntityFormProps {
  readonly kind: FormKind
  /** Empty: a new entity. */
  readonly name: string
  readonly stored: unknown
  readonly head: number
  /** Schema of the entity. */
  readonly schema: JsonSchema
  readonly origins: ReadonlyMap<string, string>
  readonly onDone: (name: string) => void
}

const Inputs = ({
  kind,
  onChange,
  schema,
  stored,
  value
}: Pick<EntityFormProps, "kind" | "schema" | "stored"> & {
  readonly value: unknown
  readonly onChange: (next: unknown) => void
}) => {
  if (kind === "model_groups") {
    const [items] = listModels(schema)
    return items === undefined ? null : (
      <ListField field={items} value={value} stored={stored} path={[]} onChange={onChange} />
    )
  }
  const fields = listFields(schema).filter(({ name }) => name !== nameFields[kind])
  const main = fields.filter(({ name }) => mainFields[kind].has(name))
  const others = fields.filter(({ name }) => !mainFields[kind].has(name))
  const set = { value, stored, path: [], onChange }
  return (
    <>
      <FieldSet fields={main} {...set} />
      {others.length === 0 ? null : (
        <details className="more">
          <summary>{t("form.more")}</summary>
          <FieldSet fields={others} {...set} />
        </details>
      )}
    </>
  )
}

/** A model group is a list itself. */
const listModels = (schema: JsonSchema) => listFields({ properties: { models: schema } })

const NameField = ({ name, onChange }: { readonly name: string; readonly onChange: (next: string) => void }) => (
  <div className="form-field">
    <label htmlFor="entity-name">
      {t("form.name")}
      <span aria-hidden="true"> *</span>
    </label>
    <div>
      <input
        id="entity-name"
        value={name}
        required
        spellCheck={false}
        autoComplete="off"
        maxLength={512}
        onChange={(event) => onChange(event.target.value)}
      />
      <p className="quiet small-text">{t("form.name.help")}</p>
    </div>
  </div>
)

/** The state of an edit: what was entered, and what the service said about it. */
const useEdit = ({ head, kind, name, stored }: EntityFormProps) => {
  const key = `${kind}/${name}`
  const [start] = useState<Start>(() => unpublished.get(key) ?? { base: head, stored })
  const [value, setValue] = useState<unknown>(() => unpublished.get(key)?.value ?? stored)
  const [checked, setChecked] = useState<CheckedEdit>()
  const [failure, setFailure] = useState<unknown>()
  const [isPending, setPending] = useState(false)
  const change = (next: unknown) => {
    setValue(next)
    setChecked(undefined)
    setFailure(undefined)
    remember(key, isSame(next, start.stored) ? undefined : { ...start, value: next })
  }
  const check = async (operations: ReadonlyArray<EditOperation>) => {
    setPending(true)
    setFailure(undefined)
    try {
      setChecked(await checkEdit({ base_revision: start.base, operations }))
    } catch (error) {
      setFailure(error)
    }
    setPending(false)
  }
  const problems = failure === undefined ? (checked?.preview.problems ?? []) : problemsIn(failure)
  const forget = () => remember(key, undefined)
  return { change, check, checked, failure, forget, isPending, problems, setChecked, stored: start.stored, value }
}

export const EntityForm = (props: EntityFormProps) => {
  const { kind, name, onDone, origins, schema } = props
  const { change, check, checked, failure, forget, isPending, problems, setChecked, stored, value } = useEdit(props)
  const [newName, setNewName] = useState(name)
  const isNew = name === ""
  const entity = { kind, name: isNew ? newName.trim() : name }
  const isChanged = isNew ? entity.name !== "" : !isSame(value, stored)
  const close = (next: string) => {
    forget()
    onDone(next)
  }
  const save = () =>
    check(
      isNew ? [{ op: "create", entity, value: omitMasks(value) ?? {} }] : operationsBetween(entity, stored, value ?? {})
    )
  const published = () => close(checked?.edit.operations.some(({ op }) => op === "delete") === true ? "" : entity.name)
  const remove = (
    <button
      type="button"
      className="small danger"
      disabled={isPending}
      onClick={() => void check([{ op: "delete", entity }])}
    >
      {t("form.delete")}
    </button>
  )
  return (
    <FormContext value={makeContext(kind, `${kind}/${entity.name}`, problems, origins)}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Panel
          title={isNew ? t("form.new", { kind: t(`kind.${kind}`) }) : name}
          note={isNew ? undefined : t(`kind.${kind}`)}
          actions={isNew ? undefined : remove}
        >
          {isNew ? <NameField name={newName} onChange={setNewName} /> : null}
          <Inputs kind={kind} schema={schema} stored={stored} value={value} onChange={change} />
          <div className="actions">
            <button type="submit" className="primary" disabled={isPending || !isChanged}>
              {t("edit.check")}
            </button>
            <button type="button" disabled={!isChanged} onClick={() => close(name)}>
              {t("edit.discard")}
            </button>
          </div>
        </Panel>
      </form>
      {failure === undefined ? null : <Failure error={failure} />}
      {checked === undefined ? null : <PublishEdit checked={checked} onChecked={setChecked} onDone={published} />}
    </FormContext>
  )
}
