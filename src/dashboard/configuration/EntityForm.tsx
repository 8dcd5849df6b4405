/**
 * The form of one entity. It starts from the stored value and its revision, and publishes operations on the fields that differ. What was
 * entered is stored as a draft, and stays while the user looks at other pages.
 */
import { useState } from "react"
import { ActionButton } from "../parts/ActionButton.tsx"
import { Failure, Panel } from "../parts/Panel.tsx"
import { t, tReason } from "../text/T.ts"
import type { Autosave } from "./Autosave.ts"
import { startAutosave } from "./StartAutosave.ts"
import { checkDraft, checkEdit, readOperations, problemsIn } from "./CheckEdit.ts"
import type { CheckedEdit, FieldProblem } from "./CheckEdit.ts"
import { DiscardDraft } from "./DiscardDraft.tsx"
import { DraftStatus } from "./DraftStatus.tsx"
import { FieldSet, ListField } from "./EntityField.tsx"
import { mainFields, nameFields } from "./EntityKinds.ts"
import type { FormKind } from "./EntityKinds.ts"
import { operationsBetween, withoutHeld } from "./FieldOperations.ts"
import type { EditOperation, FormRef } from "./FieldOperations.ts"
import { isSame, omitMasks, parsePath, toFields } from "./FieldValues.ts"
import type { FieldPath } from "./FieldValues.ts"
import { FormContext } from "./FormContext.ts"
import { listFields } from "./FormFields.ts"
import type { LoadedDraft } from "./LoadDraft.ts"
import { PublishEdit } from "./PublishEdit.tsx"
import type { JsonSchema } from "./SchemaPath.ts"
import { useAutosave } from "./UseAutosave.ts"
import type { Reason } from "../../domain/Reason.ts"

/** Where a form starts. */
interface FormStart {
  /** Revision that is edited. */
  readonly base: number
  /** Value of that revision; undefined for a new entity. Without the credentials that a draft holds, whose masks differ from it. */
  readonly stored: unknown
  /** Value that the form began with, as it is shown. */
  readonly shown: unknown
  readonly value: unknown
  /** Name that was entered for a new entity. */
  readonly name: string
  readonly autosave: Autosave
}

/** Values that are not published, of this page load, by entity. */
const unpublished = new Map<string, FormStart>()
const maxUnpublished = 20

/** Returns the values of this page load that are stored in a draft. */
export const isOpen = (kind: FormKind, name: string, draft: string | undefined): boolean =>
  unpublished.get(`${kind}/${name}`)?.autosave.stored.draft?.id === draft

/** Begins with a draft of one entity. */
export const startDraft = (
  { base, document, draft }: LoadedDraft,
  entity: { readonly kind: FormKind; readonly name: string }
): FormStart => {
  const operations = readOperations(draft)
  const valueIn = (entities: unknown): unknown => toFields(toFields(entities)[entity.kind])[entity.name]
  const value = valueIn(document.document.entities)
  return {
    base: draft.base_revision,
    stored: withoutHeld(entity, valueIn(base.entities), operations),
    shown: value,
    value,
    name: entity.name,
    autosave: startAutosave(draft)
  }
}

const remember = (key: string, entered: FormStart | undefined): void => {
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
  origins: ReadonlyMap<string, Reason>
) => {
  const set = new Map([...origins].map(([path, origin]) => [parsePath(path).join("."), origin] as const))
  const own = problems
    .filter((problem) => problem.entity === entity)
    .map(({ path, reason }) => ({ path: parsePath(path), text: tReason(reason) }))
  return {
    kind,
    problemsAt: (at: FieldPath) =>
      own.filter(({ path }) => path.length === at.length && isBelow(path, at)).map(({ text }) => text),
    problemsBelow: (at: FieldPath) => own.filter(({ path }) => isBelow(path, at)).map(({ text }) => text),
    originAt: (at: FieldPath) => set.get(at.join("."))
  }
}

interface EntityFormProps {
  readonly kind: FormKind
  /** Empty: a new entity. */
  readonly name: string
  readonly stored: unknown
  readonly head: number
  /** Schema of the entity. */
  readonly schema: JsonSchema
  readonly origins: ReadonlyMap<string, Reason>
  /** Value that a new entity begins with. */
  readonly initial?: unknown
  /** Start of a draft that is continued. */
  readonly begin?: FormStart | undefined
  readonly onDone: (name: string) => void
  /** Shows the stored version of the draft. */
  readonly onReload: () => void
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
  // A prompt is one text.
  if (kind === "prompts")
    return (
      <textarea
        aria-label={t("kind.prompts")}
        rows={24}
        spellCheck={false}
        value={typeof value === "string" ? value : ""}
        onChange={(event) => onChange(event.target.value)}
      />
    )
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

const toOperations = (
  entity: FormRef,
  isNew: boolean,
  { stored }: FormStart,
  value: unknown
): ReadonlyArray<EditOperation> =>
  isNew ? [{ op: "create", entity, value: value ?? {} }] : operationsBetween(entity, stored, value ?? {})

/** The state of an edit: what was entered, and what the service reported about it. */
const useEdit = ({ begin, head, initial, kind, name, stored }: EntityFormProps) => {
  const key = `${kind}/${name}`
  const [start] = useState<FormStart>(
    () =>
      begin ??
      unpublished.get(key) ?? {
        base: head,
        stored,
        shown: stored,
        value: stored ?? initial,
        name,
        autosave: startAutosave()
      }
  )
  const { autosave } = start
  const isNew = start.stored === undefined
  const [value, setValue] = useState<unknown>(start.value)
  const [newName, setNewName] = useState(start.name)
  const [checked, setChecked] = useState<CheckedEdit>()
  const [failure, setFailure] = useState<unknown>()
  const [isPending, setPending] = useState(false)
  const saved = useAutosave(autosave)
  const entity = { kind, name: isNew ? newName.trim() : start.name }
  const isChanged = isNew ? entity.name !== "" : !isSame(value, start.stored)
  const change = (next: unknown, nextName = newName) => {
    setValue(next)
    setNewName(nextName)
    setChecked(undefined)
    setFailure(undefined)
    remember(key, { ...start, value: next, name: nextName })
    const named = { kind, name: isNew ? nextName.trim() : start.name }
    if (named.name === "") return
    const { reason = "", title = `${kind}/${named.name}` } = autosave.stored.draft ?? {}
    const operations = toOperations(named, isNew, start, next)
    autosave.change({ title, base_revision: start.base, operations, ...(reason === "" ? undefined : { reason }) })
  }
  const run = async (action: () => Promise<CheckedEdit>) => {
    setPending(true)
    setFailure(undefined)
    try {
      setChecked(await action())
    } catch (error) {
      setFailure(error)
    }
    setPending(false)
  }
  const checkDirectly = (operations: ReadonlyArray<EditOperation>) =>
    checkEdit({ base_revision: start.base, operations })
  return {
    autosave,
    change,
    checked,
    entity,
    failure,
    isChanged,
    isNew,
    isPending,
    newName,
    saved,
    setChecked,
    start,
    value,
    check: () =>
      run(() =>
        checkDraft(autosave, () => checkDirectly(toOperations(entity, isNew, start, omitUnheld(value, isNew))))
      ),
    checkRemoval: () => run(() => checkDirectly([{ op: "delete", entity }])),
    problems: failure === undefined ? (checked?.preview.problems ?? []) : problemsIn(failure),
    forget: () => remember(key, undefined)
  }
}

/** Without a draft, a mask in a new entity stands for nothing. */
const omitUnheld = (value: unknown, isNew: boolean): unknown => (isNew ? omitMasks(value) : value)

export const EntityForm = (props: EntityFormProps) => {
  const { kind, onDone, onReload, origins, schema } = props
  const edit = useEdit(props)
  const { autosave, change, checked, entity, failure, isNew, isPending, start, value } = edit
  const close = async (next: string) => {
    await autosave.stop()
    edit.forget()
    onDone(next)
  }
  const reload = async () => {
    await autosave.stop()
    edit.forget()
    onReload()
  }
  const published = () =>
    void close(checked?.edit.operations.some(({ op }) => op === "delete") === true ? "" : entity.name)
  const remove = (
    <ActionButton
      action="POST /config/validate"
      className="small danger"
      disabled={isPending}
      onClick={() => void edit.checkRemoval()}
    >
      {t("form.delete")}
    </ActionButton>
  )
  return (
    <FormContext value={makeContext(kind, `${kind}/${entity.name}`, edit.problems, origins)}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          void edit.check()
        }}
      >
        <Panel
          title={isNew ? t("form.new", { kind: t(`kind.${kind}`) }) : start.name}
          note={isNew ? undefined : t(`kind.${kind}`)}
          actions={isNew ? undefined : remove}
        >
          {isNew ? <NameField name={edit.newName} onChange={(next) => change(value, next)} /> : null}
          <Inputs kind={kind} schema={schema} stored={start.shown} value={value} onChange={(next) => change(next)} />
          <DraftStatus autosave={autosave} stored={edit.saved} onLoad={() => void reload()} />
          <div className="actions">
            <ActionButton
              action="POST /config/validate"
              type="submit"
              className="primary"
              disabled={isPending || !edit.isChanged}
            >
              {t("edit.check")}
            </ActionButton>
            <DiscardDraft
              autosave={autosave}
              stored={edit.saved}
              isDisabled={!edit.isChanged}
              onDiscard={() => void close(isNew ? "" : start.name)}
            />
          </div>
        </Panel>
      </form>
      {failure === undefined ? null : <Failure error={failure} />}
      {checked === undefined ? null : <PublishEdit checked={checked} onChecked={edit.setChecked} onDone={published} />}
    </FormContext>
  )
}
