/** An edit that the service has checked: what it would do, and the id of the operation that publishes it. */
import { call } from "../client/Call.ts"
import type { Output } from "../client/Endpoints.ts"
import { Problem, toArray, toRecord } from "../client/Problem.ts"
import { queryClient } from "../client/Queries.ts"
import { t } from "../text/T.ts"
import type { ConfigEdit } from "./FieldOperations.ts"
import { makeOperationId } from "./OperationId.ts"
import { resolveConflicts } from "./ResolveConflicts.ts"
import type { Choice, FieldConflict, MaskedDocument } from "./ResolveConflicts.ts"

export interface CheckedEdit {
  readonly edit: ConfigEdit
  readonly preview: Output<"POST /config/validate">
  readonly operationId: string
}

/** A problem with the entity and the field that it is about. */
export interface FieldProblem {
  readonly entity: string
  readonly path: string
  readonly message: string
}

/** Rejects if the edit changes nothing, or cannot be applied. */
export const checkEdit = async (edit: ConfigEdit): Promise<CheckedEdit> => {
  if (edit.operations.length === 0) throw new Problem(422, { detail: t("edit.nothing"), code: "nothing" })
  return { edit, preview: await call("POST /config/validate", { payload: edit }), operationId: makeOperationId() }
}

/** Problems of a refused request, with the entity and the field that they are about. */
export const problemsIn = (error: unknown): ReadonlyArray<FieldProblem> =>
  error instanceof Problem
    ? toArray(error.body["issues"]).map((issue) => {
        const { entity, message, path } = toRecord(issue)
        return { entity: String(entity ?? ""), path: String(path ?? ""), message: String(message ?? "") }
      })
    : []

export const conflictsIn = (error: unknown): ReadonlyArray<FieldConflict> =>
  // A conflict has the records of a preview.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  error instanceof Problem ? (toArray(error.body["conflicts"]) as ReadonlyArray<FieldConflict>) : []

const readDocument = async (number: number): Promise<MaskedDocument> =>
  number === 0
    ? { globals: {}, entities: {} }
    : (await call("GET /config/revisions/:number", { params: { number } })).document

/** Checks the edit again, for the newest revision and with the choices of the user. */
export const resolveEdit = async (
  { base_revision: base, operations }: ConfigEdit,
  conflicts: ReadonlyArray<FieldConflict>,
  choices: Readonly<Record<string, Choice>>
): Promise<CheckedEdit> => {
  const { document: head, head: number } = await call("GET /config", {})
  const resolved = resolveConflicts({ operations, conflicts, choices, base: await readDocument(base), head })
  return checkEdit({ base_revision: number, operations: resolved })
}

export const refreshConfiguration = (): Promise<unknown> =>
  Promise.all(
    ["GET /config", "GET /config/export", "GET /config/revisions", "GET /config/status", "GET /config/drafts"].map(
      (endpoint) => queryClient.invalidateQueries({ queryKey: [endpoint] })
    )
  )
