/** Handles requests about drafts of the configuration. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { DraftInput } from "../../config/revisions/ConfigEditor.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import type { DraftContent, DraftPublication } from "../api/DraftGroup.ts"
import { invalid } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"
import { orUnavailable } from "../handlers/Available.ts"
import { isStrict, requireEmergencyRole, showPreview } from "./ConfigHandlers.ts"
import { draftConflict, draftNotFound, toDraft, toPublished, toRefusal } from "./ConfigOutcome.ts"
import { draftView } from "./ConfigViews.ts"
import { requireEditor } from "./DatabaseSource.ts"

type DraftBody = typeof DraftContent.Type

const toInput = ({ base_revision: base, operations, reason = "", title, yaml }: DraftBody) => {
  const facts = { title, reason, base }
  if (operations !== undefined && yaml === undefined) return Effect.succeed<DraftInput>({ ...facts, operations })
  if (yaml !== undefined && operations === undefined) return Effect.succeed<DraftInput>({ ...facts, yaml })
  return Effect.fail(invalid("operations", { _tag: "OperationsOrYaml" }))
}

const list = Effect.gen(function* () {
  return { items: (yield* (yield* requireEditor).drafts).map(draftView) }
})

const load = Effect.fnUntraced(function* (id: string) {
  return (yield* (yield* requireEditor).draft(id)) ?? (yield* draftNotFound)
})

const create = Effect.fnUntraced(function* ({ copy_of: copyOf, ...body }: DraftBody & { readonly copy_of?: string }) {
  const { username } = yield* CurrentUser
  return yield* toDraft(yield* (yield* requireEditor).createDraft(username, yield* toInput(body), copyOf))
})

const document = Effect.fnUntraced(function* (id: string) {
  const found = yield* (yield* requireEditor).draftDocument(id)
  switch (found._tag) {
    case "Document":
      return { version: found.version, base_revision: found.base, document: found.document, yaml: found.yaml }
    case "NotFound":
      return yield* draftNotFound
    case "Refused":
      return yield* toRefusal(found.problems)
  }
})

const preview = Effect.fnUntraced(function* (id: string) {
  const { username } = yield* CurrentUser
  const found = yield* (yield* requireEditor).previewDraft(username, id)
  return found === undefined ? yield* draftNotFound : yield* showPreview(found)
})

const save = Effect.fnUntraced(function* (id: string, version: number, body: DraftBody) {
  const { username } = yield* CurrentUser
  return yield* toDraft(yield* (yield* requireEditor).saveDraft(username, id, version, yield* toInput(body)))
})

const approve = Effect.fnUntraced(function* (id: string, version: number) {
  const { username } = yield* CurrentUser
  return yield* toDraft(yield* (yield* requireEditor).approveDraft(username, id, version))
})

const remove = Effect.fnUntraced(function* (id: string, version: number) {
  const { username } = yield* CurrentUser
  const editor = yield* requireEditor
  if (yield* editor.removeDraft(username, id, version)) return
  return yield* draftConflict((yield* load(id)).version)
})

const publish = Effect.fnUntraced(function* (id: string, body: typeof DraftPublication.Type, ifMatch?: string) {
  const { break_glass: breakGlass, operation_id: operationId, reason, version } = body
  yield* requireEmergencyRole(breakGlass)
  const editor = yield* requireEditor
  const { username } = yield* CurrentUser
  // A draft is removed once it is published: a repeated request gets the result of the first one.
  const draft = yield* editor.draft(id)
  const strict = draft === undefined ? false : yield* isStrict(ifMatch, draft.base)
  const request = { version, operationId, breakGlass, reason, strict }
  return yield* toPublished(yield* editor.publishDraft(username, id, request))
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "drafts", (handlers) =>
  handlers.handleAll({
    list: () => orUnavailable(list),
    create: ({ payload }) => orUnavailable(create(payload)),
    get: ({ params }) => orUnavailable(Effect.map(load(params.id), draftView)),
    document: ({ params }) => orUnavailable(document(params.id)),
    preview: ({ params }) => orUnavailable(preview(params.id)),
    save: ({ params, payload }) => orUnavailable(save(params.id, payload.version, payload)),
    remove: ({ params, query }) => orUnavailable(remove(params.id, query.version)),
    approve: ({ params, payload }) => orUnavailable(approve(params.id, payload.version)),
    publish: ({ headers, params, payload }) => orUnavailable(publish(params.id, payload, headers["if-match"]))
  })
)
