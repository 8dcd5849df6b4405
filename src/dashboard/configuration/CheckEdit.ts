/** An edit that the service has checked: what it would do, and the id of the operation that publishes it. */
import { call } from "../client/Call.ts"
import type { Output } from "../client/Endpoints.ts"
import { Problem, readReason, toArray, toRecord } from "../client/Problem.ts"
import { queryClient } from "../client/Queries.ts"
import { t } from "../text/T.ts"
import type { Autosave, Draft } from "./Autosave.ts"
import { withoutHeld } from "./FieldOperations.ts"
import type { ConfigEdit } from "./FieldOperations.ts"
import { makeOperationId } from "./OperationId.ts"
import { resolveConflicts } from "./ResolveConflicts.ts"
import type { Choice, FieldConflict, MaskedDocument } from "./ResolveConflicts.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface CheckedEdit {
  readonly edit: ConfigEdit
  readonly preview: Output<"POST /config/validate">
  readonly operationId: string
  /** Draft that the edit is stored in: this version is published. */
  readonly draft?: Draft
  readonly autosave?: Autosave
}

/** A problem with the entity and the field that it is about. */
export interface FieldProblem {
  readonly entity: string
  readonly path: string
  readonly reason: Reason
}

/** Rejects if the edit changes nothing, or cannot be applied. */
export const checkEdit = async (edit: ConfigEdit): Promise<CheckedEdit> => {
  if (edit.operations.length === 0) throw new Problem(422, { detail: t("edit.nothing"), code: "nothing" })
  return { edit, preview: await call("POST /config/validate", { payload: edit }), operationId: makeOperationId() }
}

/** Stores the edit and checks the draft: only the service has its credentials. An edit that cannot be stored is checked directly. */
export const checkDraft = async (autosave: Autosave, direct: () => Promise<CheckedEdit>): Promise<CheckedEdit> => {
  await autosave.flush()
  const { draft, state } = autosave.stored
  if (draft === undefined) return direct()
  if (state._tag === "Failed") throw state.error
  if (state._tag === "Moved") throw new Problem(409, { detail: t("draft.decide"), code: "draft_conflict" })
  const operations = readOperations(draft)
  if (operations.length === 0) throw new Problem(422, { detail: t("edit.nothing"), code: "nothing" })
  const preview = await call("POST /config/drafts/:id/preview", { params: { id: draft.id } })
  const edit = { base_revision: draft.base_revision, operations }
  return { edit, preview, operationId: makeOperationId(), draft, autosave }
}

/** Operations of a draft have the form of those of an edit. */
export const readOperations = ({ operations }: Draft): ConfigEdit["operations"] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  operations as ConfigEdit["operations"]

/** Problems of a refused request, with the entity and the field that they are about. */
export const problemsIn = (error: unknown): ReadonlyArray<FieldProblem> =>
  error instanceof Problem
    ? toArray(error.body["issues"]).map((issue) => {
        const { entity, path } = toRecord(issue)
        return { entity: String(entity ?? ""), path: String(path ?? ""), reason: readReason(issue, "message") }
      })
    : []

export const conflictsIn = (error: unknown): ReadonlyArray<FieldConflict> =>
  // A conflict has the records of a preview.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  error instanceof Problem ? (toArray(error.body["conflicts"]) as ReadonlyArray<FieldConflict>) : []

export const readDocument = async (number: number): Promise<MaskedDocument> =>
  number === 0
    ? { globals: {}, entities: {} }
    : (await call("GET /config/revisions/:number", { params: { number } })).document

/** Removes the credentials that a draft holds, whose masks differ from those of the revision. */
const withoutDrafted = (document: MaskedDocument, { operations }: ConfigEdit): MaskedDocument =>
  operations.reduce<MaskedDocument>((into, { entity }) => {
    if (entity === undefined) return into
    const kinds = toRecord(into.entities)
    const named = toRecord(kinds[entity.kind])
    if (named[entity.name] === undefined) return into
    const value = withoutHeld(entity, named[entity.name], operations)
    return { ...into, entities: { ...kinds, [entity.kind]: { ...named, [entity.name]: value } } }
  }, document)

/** Checks the edit again, for the newest revision and with the choices of the user. */
export const resolveEdit = async (
  { autosave, edit }: Pick<CheckedEdit, "autosave" | "edit">,
  conflicts: ReadonlyArray<FieldConflict>,
  choices: Readonly<Record<string, Choice>>
): Promise<CheckedEdit> => {
  const { base_revision: number, operations } = edit
  const { document: head, head: newest } = await call("GET /config", {})
  const stored = await readDocument(number)
  const base = autosave === undefined ? stored : withoutDrafted(stored, edit)
  const resolved = resolveConflicts({ operations, conflicts, choices, base, head })
  const next = { base_revision: newest, operations: resolved }
  if (autosave?.stored.draft === undefined) return checkEdit(next)
  const { reason, title } = autosave.stored.draft
  autosave.change({ ...next, title, ...(reason === "" ? undefined : { reason }) })
  return checkDraft(autosave, () => checkEdit(next))
}

export const refreshConfiguration = (): Promise<unknown> =>
  Promise.all(
    ["GET /config", "GET /config/export", "GET /config/revisions", "GET /config/status", "GET /config/drafts"].map(
      (endpoint) => queryClient.invalidateQueries({ queryKey: [endpoint] })
    )
  )
