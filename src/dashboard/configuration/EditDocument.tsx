/**
 * Edits the part of the configuration that the database holds, as YAML. The service converts the text to operations and computes what they would do;
 * only then they can be published. Masks stand for stored credentials: one that stays masked keeps its value. The text survives a change of the page.
 */
import { lazy, Suspense, useMemo, useState } from "react"
import { call } from "../client/Call.ts"
import { useApi } from "../client/Queries.ts"
import { Failure, Loaded, Loading, Panel } from "../parts/Panel.tsx"
import { t } from "../text/T.ts"
import { checkEdit, problemsIn } from "./CheckEdit.ts"
import type { CheckedEdit, FieldProblem } from "./CheckEdit.ts"
import type { ConfigEdit } from "./FieldOperations.ts"
import { useExport } from "./ReadExport.ts"
import type { Exported } from "./ReadExport.ts"
import { PublishEdit } from "./PublishEdit.tsx"
import { inlineReferences } from "./SchemaPath.ts"
import type { JsonSchema } from "./SchemaPath.ts"

/** Text that is not published, of this page load, with the text and the revision that it began with. */
let unpublished: (Exported & { readonly text: string }) | undefined

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

const Editor = ({ exported, schema }: { readonly exported: Exported; readonly schema: JsonSchema }) => {
  const [{ revision, yaml: initial }] = useState<Exported>(() => unpublished ?? exported)
  const [text, setText] = useState(unpublished?.text ?? initial)
  const [checked, setChecked] = useState<CheckedEdit>()
  const [failure, setFailure] = useState<unknown>()
  const [isPending, setPending] = useState(false)
  const problems = useMemo(
    () => (failure === undefined ? (checked?.preview.problems ?? none) : problemsIn(failure)),
    [checked, failure]
  )
  const change = (next: string) => {
    if (next === text) return
    unpublished = next === initial ? undefined : { text: next, yaml: initial, revision }
    setText(next)
    setChecked(undefined)
  }
  const review = async () => {
    setPending(true)
    setFailure(undefined)
    try {
      setChecked(await check(text, revision))
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
      {checked === undefined ? null : <PublishEdit checked={checked} onChecked={setChecked} onDone={discard} />}
    </div>
  )
}

export const EditDocument = () => {
  const query = useExport()
  const schema = useApi("GET /config/schema", {})
  if (schema.data === undefined) return <Loaded query={schema}>{() => null}</Loaded>
  const found = inlineReferences(schema.data)
  return (
    <Loaded query={query} rows={8}>
      {(exported) => <Editor key={unpublished?.revision ?? exported.revision} exported={exported} schema={found} />}
    </Loaded>
  )
}
