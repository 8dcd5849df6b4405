/** Handles requests about the configuration: what is effective, and edits of the database's part. */
import { Effect } from "effect"
import { HttpApiBuilder, HttpApiSchema } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { jsonSchema, withTextKey } from "../../config/JsonSchema.ts"
import type { ConfigOperation } from "../../config/revisions/Operations.ts"
import type { EditPreview, PublishRequest, RouteRequest } from "../../config/revisions/ConfigEditor.ts"
import { effectiveValues, withLayers } from "../../config/revisions/Effective.ts"
import { showDocument, showWorkspace } from "../../config/Show.ts"
import type { EffectiveValue } from "../../config/revisions/Effective.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { ConfigForbidden, ConfigNotFound } from "../api/ConfigProblems.ts"
import { pageSize } from "../api/Parameters.ts"
import { because, invalid } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"
import { orUnavailable } from "../handlers/Available.ts"
import { listOptions } from "./ConfigOptions.ts"
import { toPublished, toRefusal } from "./ConfigOutcome.ts"
import { operationView, previewView, resealView, revisionDetails, statusView, problemView } from "./ConfigViews.ts"
import { audit as auditRecord, revision as revisionRecord } from "../api/ConfigRecords.ts"
import { findEditor, requireEditor } from "./DatabaseSource.ts"
import { listWaitingWork } from "./WaitingWork.ts"
import { withoutUndefined } from "../views/WithoutUndefined.ts"

/** Returns the revision that `if-match` names. */
const parseIfMatch = (header: string | undefined): number | undefined =>
  header === undefined ? undefined : Number(header.slice(1, -1))

/** Checks that the strict form names the base of the edit. */
export const isStrict = (header: string | undefined, base: number) => {
  const named = parseIfMatch(header)
  return named === undefined || named === base
    ? Effect.succeed(named !== undefined)
    : Effect.fail(invalid("if-match", { _tag: "BaseRevisionExpected" }))
}

/** Lists the values of a configuration without a database. Undefined if there is no such workspace. */
const valuesOfFile = Effect.fnUntraced(function* (workspace?: string) {
  const store = yield* ConfigStore
  const snapshot = store.current()
  const layered = yield* store.lines
  if (layered !== undefined) return effectiveValues(snapshot, { layered, history: [], routes: [] }, workspace)
  const shown = workspace === undefined ? showDocument(snapshot) : showWorkspace(snapshot, workspace)
  return shown && withLayers(shown)
})

const workspaceNotFound = new ConfigNotFound({
  code: "workspace_not_found",
  ...because({ _tag: "WorkspaceIdUnknown" })
})

const workspace = Effect.fnUntraced(function* (id: string) {
  const editor = yield* findEditor
  const values = yield* editor === undefined ? valuesOfFile(id) : editor.workspace(id)
  return { values: (yield* found(values, workspaceNotFound)).map(toShown) }
})

const toShown = ({ value, ...rest }: EffectiveValue) => ({ ...rest, value: value ?? null })

const effective = Effect.gen(function* () {
  const editor = yield* findEditor
  if (editor === undefined) {
    const snapshot = (yield* ConfigStore).current()
    const values = (yield* valuesOfFile()) ?? []
    const body = {
      head: 0,
      active: 0,
      snapshot: snapshot.hash,
      values: values.map(toShown),
      document: { globals: {}, entities: {} },
      shadowed: [],
      owned_by_file: []
    }
    return HttpApiSchema.withHeaders({ body, headers: { etag: '"0"' } })
  }
  const { ownedByFile, values, ...found } = yield* editor.effective
  const body = {
    ...found,
    values: values.map(toShown),
    owned_by_file: ownedByFile.map((one) => withoutUndefined(one))
  }
  return HttpApiSchema.withHeaders({ body, headers: { etag: `"${found.head}"` } })
})

const options = Effect.fnUntraced(function* (source: string) {
  const items = listOptions((yield* ConfigStore).current(), source)
  if (items !== undefined) return { items }
  return yield* new ConfigNotFound({
    code: "option_source_not_found",
    ...because({ _tag: "OptionSourceUnknown" })
  })
})

interface EditBody {
  readonly base_revision: number
  readonly operations: ReadonlyArray<ConfigOperation>
}

/** Adds the work that keeps its configuration. A refused edit reaches none. */
export const showPreview = Effect.fnUntraced(function* (preview: EditPreview) {
  const { snapshot, workspaces } = preview.blastRadius
  const waiting = snapshot === "" ? { items: [], more: false } : yield* listWaitingWork(snapshot, workspaces)
  return previewView(preview, waiting)
})

const validate = Effect.fnUntraced(function* ({ base_revision: base, operations }: EditBody, ifMatch?: string) {
  const strict = yield* isStrict(ifMatch, base)
  const { username } = yield* CurrentUser
  return yield* showPreview(yield* (yield* requireEditor).preview(username, { base, operations, strict }))
})

interface RouteBody extends Pick<RouteRequest, "trigger" | "source">, Partial<EditBody> {}

const previewRoute = Effect.fnUntraced(function* ({ base_revision, operations = [], source, trigger }: RouteBody) {
  const editor = yield* requireEditor
  const base = base_revision ?? (yield* editor.status).head
  const preview = yield* editor.previewRoute({ base, operations, source, trigger })
  return { ...preview, problems: preview.problems.map(problemView) }
})

interface PublishOptions {
  readonly operation_id: string
  readonly reason?: string
  readonly break_glass?: boolean
}

const toOptions = (body: PublishOptions): Pick<PublishRequest, "breakGlass" | "operationId" | "reason"> => ({
  operationId: body.operation_id,
  reason: body.reason,
  breakGlass: body.break_glass
})

/** Fails if anyone but an administrator publishes without the required approvals. */
export const requireEmergencyRole = Effect.fnUntraced(function* (breakGlass: boolean | undefined) {
  if (breakGlass !== true || (yield* CurrentUser).role === "administrator") return
  const why = because({ _tag: "EmergencyByAdministrator" })
  return yield* new ConfigForbidden({ code: "role_needed", ...why, issues: [] })
})

const publish = Effect.fnUntraced(function* (body: EditBody & PublishOptions, ifMatch?: string) {
  yield* requireEmergencyRole(body.break_glass)
  const { base_revision: base, operations } = body
  const editor = yield* requireEditor
  const strict = yield* isStrict(ifMatch, base)
  const { username } = yield* CurrentUser
  return yield* toPublished(yield* editor.publish(username, { base, operations, strict, ...toOptions(body) }))
})

const restore = Effect.fnUntraced(function* (revision: number, body: PublishOptions, ifMatch?: string) {
  yield* requireEmergencyRole(body.break_glass)
  const editor = yield* requireEditor
  const { username } = yield* CurrentUser
  const request = { revision, expectedHead: parseIfMatch(ifMatch), ...toOptions(body) }
  return yield* toPublished(yield* editor.restore(username, request))
})

const revisionNotFound = new ConfigNotFound({
  code: "revision_not_found",
  ...because({ _tag: "RevisionUnknown" })
})

const found = <A>(value: A | undefined, missing: ConfigNotFound) =>
  value === undefined ? Effect.fail(missing) : Effect.succeed(value)

const operation = Effect.fnUntraced(function* (id: string) {
  const record = yield* (yield* requireEditor).operation(id)
  const missing = new ConfigNotFound({ code: "operation_not_found", ...because({ _tag: "OperationWithoutResult" }) })
  return operationView(yield* found(record, missing))
})

interface Paging {
  readonly cursor?: string
  readonly limit?: number
}

const revisions = Effect.fnUntraced(function* (query: Paging) {
  const { cursor } = query
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) return yield* invalid("cursor", { _tag: "CursorExpected" })
  const before = cursor === undefined ? undefined : Number(cursor)
  const page = yield* (yield* requireEditor).revisions({ before, limit: pageSize(query) })
  return { items: page.items.map(revisionRecord.view), next_cursor: page.next === undefined ? null : String(page.next) }
})

const audit = Effect.fnUntraced(function* (query: Paging) {
  const page = yield* (yield* requireEditor).audit({ before: query.cursor, limit: pageSize(query) })
  return { items: page.items.map(auditRecord.view), next_cursor: page.next ?? null }
})

const revision = Effect.fnUntraced(function* (number: number) {
  return revisionDetails(yield* found(yield* (yield* requireEditor).revision(number), revisionNotFound))
})

const previewRestore = Effect.fnUntraced(function* (number: number) {
  return yield* showPreview(yield* found(yield* (yield* requireEditor).previewRestore(number), revisionNotFound))
})

const exportYaml = Effect.gen(function* () {
  return yield* (yield* requireEditor).exportYaml((yield* CurrentUser).username)
})

const importYaml = Effect.fnUntraced(function* (yaml: string, base?: number) {
  const result = yield* (yield* requireEditor).importYaml((yield* CurrentUser).username, yaml, base)
  if (result._tag === "NoRevision") return yield* revisionNotFound
  return result._tag === "Operations"
    ? { base_revision: result.base, operations: result.operations }
    : yield* toRefusal(result.problems)
})

const reseal = Effect.gen(function* () {
  const outcome = yield* (yield* requireEditor).startReseal((yield* CurrentUser).username)
  return outcome._tag === "Started" ? resealView(outcome.job) : yield* toRefusal(outcome.problems)
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "config", (handlers) =>
  handlers.handleAll({
    effective: () => orUnavailable(effective),
    workspace: ({ params }) => orUnavailable(workspace(params.id)),
    schema: () => Effect.sync(() => jsonSchema(withTextKey)),
    options: ({ params }) => options(params.source),
    validate: ({ headers, payload }) => orUnavailable(validate(payload, headers["if-match"])),
    previewRoute: ({ payload }) => orUnavailable(previewRoute(payload)),
    publish: ({ headers, payload }) => orUnavailable(publish(payload, headers["if-match"])),
    operation: ({ params }) => orUnavailable(operation(params.id)),
    revisions: ({ query }) => orUnavailable(revisions(query)),
    revision: ({ params }) => orUnavailable(revision(params.number)),
    previewRestore: ({ params }) => orUnavailable(previewRestore(params.number)),
    restore: ({ headers, params, payload }) => orUnavailable(restore(params.number, payload, headers["if-match"])),
    status: () =>
      orUnavailable(
        Effect.map(
          Effect.flatMap(requireEditor, (editor) => editor.status),
          statusView
        )
      ),
    audit: ({ query }) => orUnavailable(audit(query)),
    export: () => orUnavailable(exportYaml),
    import: ({ payload }) => orUnavailable(importYaml(payload.yaml, payload.base_revision)),
    reseal: () => orUnavailable(reseal)
  })
)
