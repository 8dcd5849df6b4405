/** One field of a form, with its description, the problems that the service found in it, and where its value comes from. */
import { useContext, useId, useState } from "react"
import type { ReactNode } from "react"
import { useApi } from "../client/Queries.ts"
import { Status } from "../parts/Status.tsx"
import { t, tReason } from "../text/T.ts"
import { describeField } from "./DescribeField.ts"
import { optionSource } from "./EntityKinds.ts"
import { elementName, isFields, mask, toFields } from "./FieldValues.ts"
import type { FieldPath } from "./FieldValues.ts"
import { FormContext } from "./FormContext.ts"
import { applies, listFields } from "./FormFields.ts"
import type { FormField } from "./FormFields.ts"

interface FieldProps {
  readonly field: FormField
  readonly value: unknown
  /** Value that is stored. */
  readonly stored: unknown
  readonly path: FieldPath
  readonly onChange: (next: unknown) => void
}

interface InputProps extends FieldProps {
  readonly id: string
  readonly describedBy: string
  readonly isInvalid: boolean
}

const toText = (value: unknown): string =>
  value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value)

const orUnset = (text: string): string | undefined => (text === "" ? undefined : text)

const shared = ({ describedBy, field, id, isInvalid }: InputProps) => ({
  id,
  "aria-describedby": describedBy,
  "aria-invalid": isInvalid,
  required: field.isRequired
})

/** Possible values from the service; those of the schema if it has none. */
const useOptions = ({ field, path }: FieldProps): ReadonlyArray<string> => {
  const { kind } = useContext(FormContext)
  const source = optionSource(kind, path)
  const query = useApi(
    "GET /config/options/:source",
    { params: { source: source ?? "" } },
    { enabled: source !== undefined }
  )
  const found = source === undefined ? [] : (query.data?.items ?? [])
  if (field.values.length === 0) return found
  return found.some((name) => field.values.includes(name))
    ? found.filter((name) => field.values.includes(name))
    : field.values
}

const ChoiceInput = (props: InputProps) => {
  const { field, onChange, value } = props
  const options = useOptions(props)
  const shown = toText(value)
  return (
    <select {...shared(props)} value={shown} onChange={(event) => onChange(orUnset(event.target.value))}>
      <option value="">{field.fallback === "" ? t("form.unset") : t("form.default", { value: field.fallback })}</option>
      {(shown === "" || options.includes(shown) ? options : [shown, ...options]).map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  )
}

const FlagInput = (props: InputProps) => {
  const { field, onChange, value } = props
  return (
    <select
      {...shared(props)}
      value={value === undefined ? "" : String(value)}
      onChange={(event) => onChange(event.target.value === "" ? undefined : event.target.value === "true")}
    >
      <option value="">{field.fallback === "" ? t("form.unset") : t("form.default", { value: field.fallback })}</option>
      <option value="true">true</option>
      <option value="false">false</option>
    </select>
  )
}

const TextInput = (props: InputProps) => {
  const { field, id, onChange, value } = props
  const options = useOptions(props)
  return (
    <>
      <input
        {...shared(props)}
        value={toText(value)}
        placeholder={field.fallback}
        list={options.length === 0 ? undefined : `${id}-options`}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onChange(orUnset(event.target.value))}
      />
      {options.length === 0 ? null : (
        <datalist id={`${id}-options`}>
          {options.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </datalist>
      )}
    </>
  )
}

const NumberInput = (props: InputProps) => (
  <input
    {...shared(props)}
    type="number"
    step="any"
    value={toText(props.value)}
    placeholder={props.field.fallback}
    onChange={({ target }) => props.onChange(target.value === "" ? undefined : Number(target.value))}
  />
)

/** One text per line. Empty lines stay while the user types. */
const TextsInput = (props: InputProps) => {
  const given = Array.isArray(props.value) ? props.value.map(toText) : []
  const [text, setText] = useState(given.join("\n"))
  const options = useOptions(props)
  return (
    <>
      <textarea
        {...shared(props)}
        rows={Math.min(Math.max(given.length + 1, 2), 8)}
        value={text}
        spellCheck={false}
        onChange={({ target }) => {
          setText(target.value)
          const lines = target.value.split("\n").filter((line) => line.trim() !== "")
          props.onChange(lines.length === 0 ? undefined : lines.map((line) => line.trim()))
        }}
      />
      <p className="quiet small-text">
        {t("form.lines")} {options.length === 0 ? "" : t("form.possible", { names: options.slice(0, 30).join(", ") })}
      </p>
    </>
  )
}

/** JSON, for values without an input of their own. It is taken over while it is valid. */
const JsonInput = (props: InputProps) => {
  const [text, setText] = useState(props.value === undefined ? "" : JSON.stringify(props.value, null, 2))
  const [isWrong, setWrong] = useState(false)
  return (
    <>
      <textarea
        {...shared(props)}
        rows={Math.min(Math.max(text.split("\n").length, 2), 12)}
        value={text}
        spellCheck={false}
        onChange={({ target }) => {
          setText(target.value)
          try {
            props.onChange(target.value.trim() === "" ? undefined : JSON.parse(target.value))
            setWrong(false)
          } catch {
            setWrong(true)
          }
        }}
      />
      {isWrong ? <p className="form-error">{t("form.json.wrong")}</p> : <p className="quiet small-text">JSON</p>}
    </>
  )
}

/** A credential is never shown: it is kept, replaced or cleared. */
const SecretInput = (props: InputProps) => {
  const { onChange, stored, value } = props
  const isStored = stored === mask
  const state =
    value === mask ? "set" : value === undefined ? (isStored ? "cleared" : "missing") : isStored ? "changed" : "new"
  return (
    <div className="secret">
      <Status group="secret" value={state} tone={secretTones[state]} />
      {value === mask ? null : (
        <input
          {...shared(props)}
          type="password"
          autoComplete="new-password"
          value={toText(value)}
          placeholder={isStored ? t("form.secret.replace") : ""}
          onChange={(event) => onChange(orUnset(event.target.value))}
        />
      )}
      {isStored && value === mask ? (
        <button type="button" className="small" onClick={() => onChange(undefined)}>
          {t("form.secret.change")}
          <span className="hidden"> {props.field.name}</span>
        </button>
      ) : null}
      {isStored && value !== mask ? (
        <button type="button" className="small" onClick={() => onChange(mask)}>
          {t("form.secret.keep")}
          <span className="hidden"> {props.field.name}</span>
        </button>
      ) : null}
    </div>
  )
}
const secretTones = { set: "good", changed: "warn", new: "warn", cleared: "bad", missing: "quiet" } as const

const inputs = {
  text: TextInput,
  secret: SecretInput,
  number: NumberInput,
  flag: FlagInput,
  choice: ChoiceInput,
  texts: TextsInput,
  json: JsonInput
} as const

/** Fields of a group, those that do not apply excluded. */
export const FieldSet = ({
  fields,
  onChange,
  path,
  stored,
  value
}: {
  readonly fields: ReadonlyArray<FormField>
  readonly value: unknown
  readonly stored: unknown
  readonly path: FieldPath
  readonly onChange: (next: unknown) => void
}) => {
  const values = toFields(value)
  const change = (name: string, next: unknown): void => {
    const { [name]: _, ...others } = values
    const all = next === undefined ? others : { ...others, [name]: next }
    onChange(Object.keys(all).length === 0 && path.length > 0 ? undefined : all)
  }
  return (
    <div className="form-fields">
      {fields
        .filter((field) => applies(field, values))
        .map((field) => (
          <EntityField
            key={field.name}
            field={field}
            value={values[field.name]}
            stored={toFields(stored)[field.name]}
            path={[...path, field.name]}
            onChange={(next) => change(field.name, next)}
          />
        ))}
    </div>
  )
}

/** Groups are open if they have values, so that nothing that is set is hidden. */
const GroupField = ({ field, onChange, path, stored, value }: FieldProps) => {
  const { problemsBelow } = useContext(FormContext)
  const isSet = value !== undefined || problemsBelow(path).length > 0
  const [isOpen, setOpen] = useState(isSet)
  return (
    <details className="form-group" open={isOpen || isSet} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="mono">{field.name}</span> <span className="quiet">{describeField(field.text)}</span>
      </summary>
      {isOpen || isSet ? (
        <FieldSet fields={listFields(field.schema)} value={value} stored={stored} path={path} onChange={onChange} />
      ) : null}
    </details>
  )
}

/** Elements of a list, each a group. */
export const ListField = ({ field, onChange, path, stored, value }: FieldProps) => {
  const items: ReadonlyArray<unknown> = Array.isArray(value) ? value : []
  const before: ReadonlyArray<unknown> = Array.isArray(stored) ? stored : []
  const change = (next: ReadonlyArray<unknown>) => onChange(next.length === 0 ? undefined : next)
  const move = (index: number) =>
    change(items.map((item, at) => (at === index ? items[index - 1] : at === index - 1 ? items[index] : item)))
  return (
    <fieldset className="form-list">
      <legend>
        <span className="mono">{field.name}</span> <span className="quiet">{describeField(field.text)}</span>
      </legend>
      <FieldProblems path={path} />
      {items.map((item, index) => {
        const name = elementName(item, index)
        const label = `${field.name} ${name === String(index) ? index + 1 : name}`
        return (
          <div key={index} className="form-item" role="group" aria-label={label}>
            <div className="actions">
              <strong>{index + 1}</strong>
              {index === 0 ? null : (
                <button type="button" className="small" onClick={() => move(index)}>
                  {t("form.up")}
                  <span className="hidden"> {label}</span>
                </button>
              )}
              <button type="button" className="small" onClick={() => change(items.filter((_, at) => at !== index))}>
                {t("form.remove")}
                <span className="hidden"> {label}</span>
              </button>
            </div>
            <FieldSet
              fields={listFields(field.schema)}
              value={item}
              stored={before.find((one, at) => elementName(one, at) === name)}
              path={[...path, name]}
              onChange={(next) => change(items.with(index, next ?? {}))}
            />
          </div>
        )
      })}
      <div>
        <button type="button" className="small" onClick={() => onChange([...items, {}])}>
          {t("form.add", { name: field.name })}
        </button>
      </div>
    </fieldset>
  )
}

const FieldProblems = ({ id, path }: { readonly path: FieldPath; readonly id?: string }) => {
  const { problemsAt } = useContext(FormContext)
  return problemsAt(path).map((message) => (
    <p key={message} id={id} className="form-error">
      {message}
    </p>
  ))
}

const Labelled = (props: FieldProps & { readonly children: (input: InputProps) => ReactNode }) => {
  const { children, field, path } = props
  const { originAt, problemsAt } = useContext(FormContext)
  const id = useId()
  const origin = originAt(path)
  return (
    <div className={`form-field form-${field.kind}`}>
      <label htmlFor={id}>
        {field.name}
        {field.isRequired ? <span aria-hidden="true"> *</span> : null}
      </label>
      <div>
        {children({ ...props, id, describedBy: `${id}-help`, isInvalid: problemsAt(path).length > 0 })}
        <FieldProblems path={path} />
        <p id={`${id}-help`} className="quiet small-text">
          {describeField(field.text)}
          {origin === undefined ? null : (
            <span className="origin"> {t("form.origin", { origin: tReason(origin) })}</span>
          )}
        </p>
      </div>
    </div>
  )
}

export const EntityField = (props: FieldProps) => {
  const { field, value } = props
  if (field.kind === "list") return <ListField {...props} />
  if (field.kind === "group" && (value === undefined || isFields(value))) return <GroupField {...props} />
  const Input = inputs[field.kind === "group" ? "json" : field.kind]
  return <Labelled {...props}>{(input) => <Input {...input} />}</Labelled>
}
