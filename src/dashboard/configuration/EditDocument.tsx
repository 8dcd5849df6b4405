/**
 * Edits the part of the configuration that the database holds, as YAML. The service converts the text to operations and computes what they would do;
 * only then they can be published. Masks stand for stored credentials: one that stays masked keeps its value. The text is
 * stored as a draft, and survives a change of the page.
 */
import { lazy, Suspense, useMemo, useState } from "react"
import { call } from "../client/Call.ts"
import { useApi } from "../client/Queries.ts"
import { ActionButton } from "../parts/ActionButton.tsx"
import { useFilters } from "../parts/Filters.tsx"
import { Failure, Loaded, Loading, Panel } from "../parts/Panel.tsx"
import { t } from "../text/T.ts"
import type { Autosave } from "./Autosave.ts"
import { startAutosave } from "./StartAutosave.ts"
import { checkDraft, checkEdit, problemsIn } from "./CheckEdit.ts"
import type { CheckedEdit, FieldProblem } from "./CheckEdit.ts"
import { DiscardDraft } from "./DiscardDraft.tsx"
import { DraftStatus } from "./DraftStatus.tsx"
import type { ConfigEdit } from "./FieldOperations.ts"
import { useDraft } from "./LoadDraft.ts"
import type { LoadedDraft } from "./LoadDraft.ts"
import { PublishEdit } from "./PublishEdit.tsx"
import { inlineReferences } from "./SchemaPath.ts"
import type { JsonSchema } from "./SchemaPath.ts"
import { useAutosave } from "./UseAutosave.ts"
import { useQuery } from "@tanstack/react-query"

/** Reads the document of the database as YAML, with the number of its revision. */
interface Exported {
  readonly yaml: string
  readonly revision: number
}

const maxAttempts = 5

/** Another revision may be published between the requests: then both are repeated. */
const readExport = async (signal: AbortSignal): Promise<Exported> => {
  let before = await call("GET /config", {}, { signal })
  for (let attempt = 1; ; attempt++) {
    const yaml = await call("GET /config/export", {}, { signal })
    const after = await call("GET /config", {}, { signal })
    if (after.head === before.head || attempt === maxAttempts) return { yaml, revision: before.head }
    before = after
  }
}

const useExport = () => useQuery({ queryKey: ["GET /config/export", {}], queryFn: ({ signal }) => readExport(signal) })

interface Start extends Exported {
  /** Text that is edited. `yaml`: that of the revision; empty: unknown, the text is that of a draft. */
  readonly text: string
  readonly autosave: Autosave
}

/** Text that is not published, of this page load. */
let unpublished: Start | undefined

const check = async (yaml: string, revision: number): Promise<CheckedEdit> => {
  const { base_revision: base, operations } = await call("POST /config/import", {
    payload: { yaml, base_revision: revision }
  })
  // Operations of an import have the form of those of an edit.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return checkEdit({ base_revision: base, operations } as ConfigEdit)
}

const YamlEditor = lazy(() => import("./YamlEditor.tsx"))
const none: ReadonlyArray<FieldProblem> = []

interface EditorProps {
  readonly start: Start
  readonly schema: JsonSchema
  readonly onReload: (draft: string | undefined) => void
}

const Editor = ({ onReload, schema, start }: EditorProps) => {
  const { autosave, revision, yaml: initial } = start
  const [text, setText] = useState(start.text)
  const [checked, setChecked] = useState<CheckedEdit>()
  const [failure, setFailure] = useState<unknown>()
  const [isPending, setPending] = useState(false)
  const stored = useAutosave(autosave)
  const problems = useMemo(
    () => (failure === undefined ? (checked?.preview.problems ?? none) : problemsIn(failure)),
    [checked, failure]
  )
  const isUnchanged = text === initial && stored.draft === undefined
  const change = (next: string) => {
    if (next === text) return
    unpublished = { ...start, text: next }
    setText(next)
    setChecked(undefined)
    const { reason = "", title = t("edit.title") } = autosave.stored.draft ?? {}
    autosave.change({ title, base_revision: revision, yaml: next, ...(reason === "" ? undefined : { reason }) })
  }
  const review = async () => {
    setPending(true)
    setFailure(undefined)
    try {
      setChecked(await checkDraft(autosave, () => check(text, revision)))
    } catch (error) {
      setFailure(error)
    }
    setPending(false)
  }
  const restart = (draft?: string) => {
    unpublished = undefined
    onReload(draft)
  }
  return (
    <div className="stack">
      <Panel
        title={t("edit.title")}
        note={t("edit.note")}
        actions={
          <>
            <DiscardDraft autosave={autosave} stored={stored} isDisabled={isUnchanged} onDiscard={() => restart()} />
            <ActionButton
              action="POST /config/validate"
              className="primary"
              disabled={isPending || isUnchanged}
              onClick={() => void review()}
            >
              {t("edit.check")}
            </ActionButton>
          </>
        }
      >
        <DraftStatus
          autosave={autosave}
          stored={stored}
          onLoad={() => void autosave.stop().then(() => restart(autosave.stored.draft?.id))}
        />
        <Suspense fallback={<Loading rows={8} />}>
          <YamlEditor label={t("edit.title")} value={text} schema={schema} problems={problems} onChange={change} />
        </Suspense>
      </Panel>
      {failure === undefined ? null : <Failure error={failure} />}
      {checked === undefined ? null : (
        <PublishEdit
          checked={checked}
          onChecked={setChecked}
          onDone={() => void autosave.stop().then(() => restart())}
        />
      )}
    </div>
  )
}

const fromDraft = ({ document, draft }: LoadedDraft): Start => ({
  revision: draft.base_revision,
  yaml: "",
  text: document.yaml,
  autosave: startAutosave(draft)
})

/** Begins with the text of this page load, with a draft, or with the newest revision. */
const Begin = ({ exported, loaded, ...props }: Omit<EditorProps, "start"> & Partial<Sources>) => {
  const [start] = useState<Start | undefined>(() => {
    if (loaded !== undefined) return fromDraft(loaded)
    return (
      unpublished ??
      (exported === undefined ? undefined : { ...exported, text: exported.yaml, autosave: startAutosave() })
    )
  })
  return start === undefined ? null : <Editor start={start} {...props} />
}

interface Sources {
  readonly exported: Exported
  readonly loaded: LoadedDraft
}

export const EditDocument = () => {
  const [filters, setFilters] = useFilters()
  const [attempt, setAttempt] = useState(0)
  const named = filters["draft"]
  // The text of this page load is newer than the draft that it is stored in.
  const [wanted, setWanted] = useState(() => (unpublished?.autosave.stored.draft?.id === named ? undefined : named))
  const query = useExport()
  const draft = useDraft(wanted, attempt)
  const schema = useApi("GET /config/schema", {})
  if (schema.data === undefined) return <Loaded query={schema}>{() => null}</Loaded>
  const inlined = inlineReferences(schema.data)
  const reload = (next: string | undefined) => {
    setWanted(next)
    setAttempt(attempt + 1)
    setFilters({ draft: next })
  }
  const shared = { schema: inlined, onReload: reload }
  if (wanted !== undefined)
    return (
      <Loaded query={draft} rows={8}>
        {(loaded) => <Begin key={`${attempt} draft`} loaded={loaded} {...shared} />}
      </Loaded>
    )
  return (
    <Loaded query={query} rows={8}>
      {(exported) => (
        <Begin key={`${attempt} ${unpublished?.revision ?? exported.revision}`} exported={exported} {...shared} />
      )}
    </Loaded>
  )
}
