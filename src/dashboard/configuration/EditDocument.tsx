/**
 * Edits the part of the configuration that the database holds, as YAML. The service converts the text to operations and computes what they would do;
 * only then they can be published. Masks stand for stored credentials: one that stays masked keeps its value. The text survives a change of the page.
 */
import { lazy, Suspense, useMemo, useState } from "react"
import { call } from "../client/Call.ts"
import type { Input } from "../client/Endpoints.ts"
import { Problem, toArray, toRecord } from "../client/Problem.ts"
import { queryClient, useApi } from "../client/Queries.ts"
import { notify } from "../parts/Notices.tsx"
import { Failure, Loaded, Loading, Panel } from "../parts/Panel.tsx"
import { t } from "../text/T.ts"
import { Conflicts, EditPreview } from "./EditPreview.tsx"
import type { Preview } from "./EditPreview.tsx"
import { inlineReferences } from "./SchemaPath.ts"
import type { JsonSchema } from "./SchemaPath.ts"
import type { EditorProblem } from "./YamlEditor.tsx"
import { makeOperationId } from "./OperationId.ts"

type Edit = NonNullable<Input<"POST /config/validate">["payload"]>

interface Checked {
  readonly edit: Edit
  readonly preview: Preview
  readonly operationId: string
}

/** Text that is not published, of this page load. */
let unpublished: string | undefined

const check = async (yaml: string): Promise<Checked> => {
  const { base_revision: base, operations } = await call("POST /config/import", { payload: { yaml } })
  // Operations of an import have the form of those of an edit.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const edit = { base_revision: base, operations } as Edit
  if (operations.length === 0) throw new Problem(422, { detail: t("edit.nothing"), code: "nothing" })
  return { edit, preview: await call("POST /config/validate", { payload: edit }), operationId: makeOperationId() }
}

const refresh = (): Promise<unknown> =>
  Promise.all(
    ["GET /config", "GET /config/export", "GET /config/revisions", "GET /config/status", "GET /config/drafts"].map(
      (endpoint) => queryClient.invalidateQueries({ queryKey: [endpoint] })
    )
  )

const conflictsOf = (error: unknown): Preview["conflicts"] =>
  // A conflict has the records of a preview.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  error instanceof Problem ? (toArray(error.body["conflicts"]) as Preview["conflicts"]) : []

const PublishForm = ({ checked, onDone }: { readonly checked: Checked; readonly onDone: () => void }) => {
  const [reason, setReason] = useState("")
  const [failure, setFailure] = useState<unknown>()
  const [isPending, setPending] = useState(false)
  const { edit, operationId, preview } = checked
  const run = async (action: () => Promise<string>) => {
    setPending(true)
    setFailure(undefined)
    try {
      notify("good", await action())
      await refresh()
      onDone()
    } catch (error) {
      setFailure(error)
      setPending(false)
    }
  }
  const publish = async () => {
    const result = await call("POST /config/changesets", {
      payload: { ...edit, operation_id: operationId, ...(reason === "" ? undefined : { reason }) }
    })
    return "revision" in result ? t("edit.published", { number: result.revision.number }) : t("edit.nothing")
  }
  const saveDraft = async () => {
    await call("POST /config/drafts", {
      payload: { ...edit, title: reason === "" ? t("edit.draft.untitled") : reason }
    })
    return t("edit.draft.saved")
  }
  return (
    <Panel title={t("edit.publish")}>
      <label className="field">
        <span>{t("field.reason")}</span>
        <input value={reason} maxLength={500} onChange={(event) => setReason(event.target.value)} />
      </label>
      {failure === undefined ? null : <Failure error={failure} />}
      <Conflicts conflicts={conflictsOf(failure)} />
      <div className="actions">
        <button
          type="button"
          className="primary"
          disabled={isPending || !preview.valid}
          onClick={() => void run(publish)}
        >
          {t("edit.publish")}
        </button>
        <button type="button" disabled={isPending} onClick={() => void run(saveDraft)}>
          {t("edit.draft.save")}
        </button>
      </div>
    </Panel>
  )
}

const YamlEditor = lazy(() => import("./YamlEditor.tsx"))
const none: ReadonlyArray<EditorProblem> = []

/** Problems of a refused request, with the entity and the field that they are about. */
const problemsOf = (error: unknown): ReadonlyArray<EditorProblem> => {
  if (!(error instanceof Problem)) return none
  return toArray(error.body["issues"]).map((issue) => {
    const { entity, message, path } = toRecord(issue)
    return { entity: String(entity ?? ""), path: String(path ?? ""), message: String(message ?? "") }
  })
}

const Editor = ({ initial, schema }: { readonly initial: string; readonly schema: JsonSchema }) => {
  const [text, setText] = useState(unpublished ?? initial)
  const [checked, setChecked] = useState<Checked>()
  const [failure, setFailure] = useState<unknown>()
  const [isPending, setPending] = useState(false)
  const problems = useMemo(
    () => (failure === undefined ? (checked?.preview.problems ?? none) : problemsOf(failure)),
    [checked, failure]
  )
  const change = (next: string) => {
    if (next === text) return
    unpublished = next === initial ? undefined : next
    setText(next)
    setChecked(undefined)
  }
  const review = async () => {
    setPending(true)
    setFailure(undefined)
    try {
      setChecked(await check(text))
    } catch (error) {
      setFailure(error)
    }
    setPending(false)
  }
  const discard = () => change(initial)
  return (
    <div className="stack">
      <Panel
        title={t("edit.title")}
        note={t("edit.note")}
        actions={
          <>
            <button type="button" disabled={text === initial} onClick={discard}>
              {t("edit.discard")}
            </button>
            <button
              type="button"
              className="primary"
              disabled={isPending || text === initial}
              onClick={() => void review()}
            >
              {t("edit.check")}
            </button>
          </>
        }
      >
        <Suspense fallback={<Loading rows={8} />}>
          <YamlEditor label={t("edit.title")} value={text} schema={schema} problems={problems} onChange={change} />
        </Suspense>
      </Panel>
      {failure === undefined ? null : <Failure error={failure} />}
      {checked === undefined ? null : (
        <>
          <EditPreview preview={checked.preview} />
          <PublishForm checked={checked} onDone={discard} />
        </>
      )}
    </div>
  )
}

export const EditDocument = () => {
  const query = useApi("GET /config/export", {})
  const schema = useApi("GET /config/schema", {})
  if (schema.data === undefined) return <Loaded query={schema}>{() => null}</Loaded>
  const found = inlineReferences(schema.data)
  return (
    <Loaded query={query} rows={8}>
      {(yaml) => <Editor key={yaml} initial={yaml} schema={found} />}
    </Loaded>
  )
}
