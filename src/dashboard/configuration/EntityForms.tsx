/** Forms for the entities that are edited most: those of the database can be changed, those of the file are shown with their line. */
import { useState } from "react"
import { basePrompt } from "../../domain/BasePrompt.ts"
import { useApi } from "../client/Queries.ts"
import { useFilters } from "../parts/Filters.tsx"
import type { Search } from "../parts/Filters.tsx"
import { Empty, Loaded, Loading, Panel } from "../parts/Panel.tsx"
import { Scroll } from "../parts/Scroll.tsx"
import { t, tReason } from "../text/T.ts"
import { EntityForm, isOpen, startDraft } from "./EntityForm.tsx"
import { entityValues, fileEntities, formKinds, storedEntities } from "./EntityKinds.ts"
import type { Effective, FormKind } from "./EntityKinds.ts"
import { formEntity, useDraft } from "./LoadDraft.ts"
import type { LoadedDraft } from "./LoadDraft.ts"
import { renderValue } from "./RenderValue.ts"
import { RoutePreview } from "./RoutePreview.tsx"
import { inlineReferences, schemaAt } from "./SchemaPath.ts"
import type { JsonSchema } from "./SchemaPath.ts"
import type { Reason } from "../../domain/Reason.ts"

/** The built-in base prompt, which a workspace replaces with `prompt.system_prompt`: read-only, as a start for an own one. */
const BasePrompt = ({ onCopy }: { readonly onCopy: () => void }) => (
  <Panel
    title={t("prompt.base")}
    note={t("prompt.base.note")}
    actions={
      <button type="button" className="small" onClick={onCopy}>
        {t("prompt.base.copy")}
      </button>
    }
  >
    <pre className="wrap">{basePrompt}</pre>
  </Panel>
)

const FileEntity = ({ effective, kind, line, name }: SelectedProps & { readonly line: number | undefined }) => (
  <Panel title={name} note={line === undefined ? t("form.file") : t("form.file.line", { line })} flush>
    <Scroll label={name}>
      <table>
        <thead>
          <tr>
            <th>{t("config.path")}</th>
            <th>{t("config.value")}</th>
            <th>{t("config.origin")}</th>
          </tr>
        </thead>
        <tbody>
          {entityValues(effective, kind, name)
            .filter(({ origin }) => origin._tag !== "OriginDefault")
            .map(({ origin, path, value }) => (
              <tr key={path}>
                <td className="mono">{path}</td>
                <td className="mono break">{renderValue(value)}</td>
                <td>{tReason(origin)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </Scroll>
  </Panel>
)

interface SelectedProps {
  readonly effective: Effective
  readonly kind: FormKind
  readonly name: string
}

interface FormProps extends SelectedProps {
  readonly schema: JsonSchema
  readonly onDone: (name: string) => void
  readonly onReload: () => void
  /** Value that a new entity begins with. */
  readonly initial?: unknown
  /** Draft that is continued. */
  readonly loaded?: LoadedDraft | undefined
}

/** Continues a draft of one entity. */
const Drafted = ({ loaded, schema, ...props }: Omit<FormProps, "loaded"> & { readonly loaded: LoadedDraft }) => {
  const entity = formEntity({ ...loaded.draft, format: "operations" })
  const [begin] = useState(() => (entity === undefined ? undefined : startDraft(loaded, entity)))
  const found = entity === undefined ? undefined : schemaAt(schema, ["entities", entity.kind, entity.name])
  if (begin === undefined || found === undefined || entity === undefined)
    return <Empty title={t("draft.several")}>{t("draft.several.help")}</Empty>
  const { effective, kind, name, onDone, onReload } = props
  const { base, stored } = begin
  return (
    <EntityForm
      {...{ begin, kind, name, onDone, onReload, schema: found, stored }}
      head={base}
      origins={findOrigins(effective, kind, name)}
    />
  )
}

const findOrigins = (effective: Effective, kind: FormKind, name: string): ReadonlyMap<string, Reason> =>
  new Map(
    name === ""
      ? []
      : entityValues(effective, kind, name).flatMap(({ origin, path }) =>
          origin._tag === "OriginDefault" ? [] : [[path, origin] as const]
        )
  )

const Selected = ({ loaded, ...props }: FormProps) => {
  const { effective, initial, kind, name, onDone, onReload, schema } = props
  if (loaded !== undefined) return <Drafted loaded={loaded} {...props} />
  const ofFile = fileEntities(effective, kind).find((one) => one.name === name)
  if (ofFile !== undefined) return <FileEntity effective={effective} kind={kind} name={name} line={ofFile.line} />
  const found = schemaAt(schema, ["entities", kind, name === "" ? "new" : name])
  const stored = storedEntities(effective, kind)[name]
  if (found === undefined || (name !== "" && stored === undefined)) return <Empty title={t("form.gone", { name })} />
  return (
    <>
      {effective.shadowed.includes(`${kind}/${name}`) ? <p className="quiet">{t("form.shadowed")}</p> : null}
      <EntityForm
        kind={kind}
        name={name}
        stored={stored}
        initial={initial}
        head={effective.head}
        schema={found}
        origins={findOrigins(effective, kind, name)}
        onDone={onDone}
        onReload={onReload}
      />
    </>
  )
}

const Names = ({ effective, kind, name, onSelect }: SelectedProps & { readonly onSelect: (name: string) => void }) => {
  const entries = [
    ...fileEntities(effective, kind).map((one) => ({ name: one.name, place: t("form.place.file") })),
    ...Object.keys(storedEntities(effective, kind)).map((one) => ({ name: one, place: t("form.place.database") }))
  ].toSorted((one, other) => one.name.localeCompare(other.name))
  return (
    <Panel
      title={t(`kind.${kind}`)}
      actions={
        <button type="button" className="small" onClick={() => onSelect("")}>
          {t("form.create")}
        </button>
      }
      flush
    >
      {entries.length === 0 ? <Empty title={t("form.none")} /> : null}
      <ul className="choices">
        {entries.map((one) => (
          <li key={`${one.place} ${one.name}`}>
            <button type="button" aria-pressed={one.name === name} onClick={() => onSelect(one.name)}>
              <span>{one.name}</span> <span className="quiet">{one.place}</span>
            </button>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

const Unselected = ({ kind, onCopy }: { readonly kind: FormKind; readonly onCopy: () => void }) => (
  <>
    <Empty title={t("form.select")}>{t("form.select.help")}</Empty>
    {kind === "prompts" ? <BasePrompt onCopy={onCopy} /> : null}
  </>
)

export const EntityForms = () => {
  const [filters, setFilters] = useFilters()
  const query = useApi("GET /config", {})
  const schema = useApi("GET /config/schema", {})
  const [version, setVersion] = useState(0)
  const kind = formKinds.find((name) => name === filters["kind"]) ?? "workspaces"
  const name = filters["name"]
  const named = filters["draft"]
  const isHere = named === undefined || isOpen(kind, name ?? "", named)
  // What was entered on this page is newer than the draft that it is stored in.
  const [wanted, setWanted] = useState(isHere ? undefined : named)
  const draft = useDraft(wanted, version)
  if (schema.data === undefined) return <Loading rows={8} />
  const inlined = inlineReferences(schema.data)
  const select = (next: Search) => {
    setWanted(undefined)
    setFilters({ name: undefined, new: undefined, draft: undefined, ...next })
  }
  const done = (next: string) => {
    setVersion(version + 1)
    select({ name: next === "" ? undefined : next })
  }
  const reload = () => {
    setVersion(version + 1)
    setWanted(named)
  }
  return (
    <Loaded query={query} rows={8}>
      {(effective) => (
        <>
          <div className="presets wrap" role="group" aria-label={t("config.tab.forms")}>
            {formKinds.map((one) => (
              <button type="button" key={one} aria-pressed={one === kind} onClick={() => select({ kind: one })}>
                {t(`kind.${one}`)}
              </button>
            ))}
          </div>
          <div className="columns narrow-left">
            <Names
              effective={effective}
              kind={kind}
              name={name ?? ""}
              onSelect={(next) => select(next === "" ? { new: "1" } : { name: next })}
            />
            <div className="stack">
              {wanted !== undefined ? (
                <Loaded query={draft} rows={8}>
                  {(loaded) => (
                    <Selected
                      key={`draft ${wanted} ${version}`}
                      {...{ effective, kind, loaded, schema: inlined }}
                      name={name ?? ""}
                      onDone={done}
                      onReload={reload}
                    />
                  )}
                </Loaded>
              ) : name === undefined && filters["new"] === undefined ? (
                <Unselected kind={kind} onCopy={() => select({ new: "base" })} />
              ) : (
                <Selected
                  key={`${kind} ${name ?? ""} ${filters["new"] ?? ""} ${version}`}
                  effective={effective}
                  kind={kind}
                  name={name ?? ""}
                  initial={filters["new"] === "base" ? basePrompt : undefined}
                  schema={inlined}
                  onDone={done}
                  onReload={reload}
                />
              )}
            </div>
          </div>
          <RoutePreview />
        </>
      )}
    </Loaded>
  )
}
