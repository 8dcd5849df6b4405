/**
 * Reads, creates and repairs one webhook, so that a scope has one of this service that is complete. Used by the inventory, `aicr setup` and
 * `aicr doctor`. It writes at most once, never deletes, and changes no webhook of others. May be repeated at any step: a webhook is looked for
 * before it is created, and again when the outcome of the creation is unknown.
 */
import { Effect } from "effect"
import type { Redacted } from "effect"
import type { Snapshot, Workspace } from "../config/Snapshot.ts"
import { foldRepo } from "../domain/Change.ts"
import type { ForgeKind } from "../domain/Kinds.ts"
import type { Reason } from "../domain/Reason.ts"
import { publicUrl } from "../domain/RunLink.ts"
import { listSpellings } from "../domain/Vocabulary.ts"
import { listEvents, listUsedFeatures } from "../domain/WebhookSetup.ts"
import type { ForgeError } from "./ForgeError.ts"
import type { HookScope, HostHooks } from "./Forge.ts"
import { isOurHook, judgeHooks } from "./hosts/HostWebhook.ts"
import type { JudgedHook, WantedHook } from "./hosts/HostWebhook.ts"
import { isRefused } from "./http/HostWords.ts"
import type { Writing } from "./WriteOwner.ts"
export type { JudgedHook, WantedHook } from "./hosts/HostWebhook.ts"

/** Permitted writes: none, updates of own webhooks, or new webhooks too. */
export type HookMode = "report" | "repair" | "create"

export interface ReadHook extends JudgedHook {
  /** Whether the scope has room for a webhook of the service: an app has one webhook, which may belong to another receiver. */
  readonly canCreate: boolean
}

interface EnsuredHook extends JudgedHook {
  readonly written: { readonly action: HookWrite; readonly id: string } | undefined
}

export type HookWrite = "create" | "repair"

/** Returns the webhook that workspaces need. `written`: what the service wrote in its scope. */
export const wantHook = (
  { document: { server } }: Pick<Snapshot, "document">,
  kind: ForgeKind,
  workspaces: ReadonlyArray<Workspace>,
  written: Partial<Pick<WantedHook, "hasSecret" | "writtenId">> = {}
): WantedHook => ({
  addresses: [kind, ...listSpellings("webhookPath", kind)].flatMap(
    (name) => publicUrl(server, `/webhooks/${name}`) ?? []
  ),
  events: listEvents(kind, listUsedFeatures(kind, workspaces)).map(({ id }) => id),
  writtenId: written.writtenId,
  hasSecret: written.hasSecret
})

/** Key of a scope among those of a trigger. */
export const scopeKey = (scope: HookScope): string => {
  if (scope._tag === "Host") return "host"
  return scope._tag === "Owner" ? `owner:${scope.name.toLowerCase()}` : `repository:${foldRepo(scope.fullName)}`
}

/** Name of the repository or owner; empty for the site or app. */
export const scopeName = (scope: HookScope): string => {
  if (scope._tag === "Host") return ""
  return scope._tag === "Owner" ? scope.name : scope.fullName
}

/** Returns the state of a webhook, and its problems as one reason. */
export const describeState = ({ hook, problems }: Pick<JudgedHook, "hook" | "problems">) => {
  const [first] = problems
  if (first === undefined) return { state: "complete", problem: undefined } as const
  const problem: Reason = problems.length === 1 ? first : { _tag: "Several", reasons: problems }
  return { state: hook === undefined ? "missing" : "broken", problem } as const
}

/** The credential may not read this, or there is nothing to read. */
export const isHidden = isRefused(["forbidden", "not_found"])

/** Reads and judges the webhooks of a scope, with the log of deliveries of those of the service. */
export const readHook = Effect.fnUntraced(function* (
  hooks: HostHooks,
  scope: HookScope,
  wanted: WantedHook
): Effect.fn.Return<ReadHook, ForgeError> {
  const listed = yield* hooks.list(scope)
  const read = yield* Effect.forEach(listed, (hook) =>
    Effect.map(
      isOurHook(hook, wanted)
        ? Effect.catchIf(hooks.deliveries(scope, hook.id), isHidden, () => Effect.succeed([]))
        : Effect.succeed([]),
      (deliveries) => ({ ...hook, deliveries })
    )
  )
  const judged = judgeHooks(read, wanted)
  if (!hooks.isApp) return { ...judged, canCreate: true }
  // Only the page of an app changes its events.
  const { isRepairable } = judgeHooks(read, { ...wanted, events: [] })
  return { ...judged, isRepairable, canCreate: listed.length === 0 }
})

/** Returns the wider webhook of the service that serves the repositories of an owner, also a broken one. That of an app always does. */
export const findServing = Effect.fnUntraced(function* (hooks: HostHooks, owner: string, wanted: WantedHook) {
  for (const scope of hooks.wider(owner)) {
    const read = yield* Effect.catchIf(readHook(hooks, scope, wanted), isHidden, () => Effect.succeed(undefined))
    if (read !== undefined && (read.hook !== undefined || hooks.isApp)) return { scope, read }
  }
  return undefined
})

/** Returns the write that a webhook needs and the mode permits. Pure. */
export const nextWrite = (
  { canCreate, hook, isRepairable }: ReadHook,
  { addresses }: WantedHook,
  mode: HookMode
): HookWrite | undefined => {
  if (addresses.length === 0 || mode === "report") return undefined
  if (hook !== undefined) return isRepairable ? "repair" : undefined
  return mode === "create" && canCreate ? "create" : undefined
}

const complete = (written: EnsuredHook["written"], problems: EnsuredHook["problems"] = []): EnsuredHook => ({
  hook: undefined,
  problems,
  isRepairable: false,
  written
})

/** The outcome of the creation is unknown, or the host has such a webhook. */
const mayExist = isRefused(["unknown_outcome", "invalid", "conflict"])
/** The host refuses this write. Others may succeed. */
const isRefusal = isRefused(["forbidden", "not_found", "invalid", "conflict"])

interface EnsureOptions {
  readonly mode: HookMode
  readonly secret: Redacted.Redacted | undefined
}

/** Writes what a webhook needs that was read before. */
export const writeHook = Effect.fnUntraced(function* (
  hooks: HostHooks,
  scope: HookScope,
  wanted: WantedHook,
  read: ReadHook,
  { mode, secret }: EnsureOptions
): Effect.fn.Return<EnsuredHook, ForgeError, Writing> {
  const action = nextWrite(read, wanted, mode)
  const [url] = wanted.addresses
  if (action === undefined || url === undefined) return { ...read, written: undefined }
  const { hook } = read
  const content = { url, secret, events: [...new Set([...(hook?.events ?? []), ...wanted.events])] }
  const write =
    hook === undefined ? hooks.create(scope, content) : Effect.as(hooks.update(scope, hook, content), hook.id)
  const result = yield* Effect.result(write)
  if (result._tag === "Success") {
    const kept = hooks.isApp ? read.problems.filter(({ _tag }) => _tag === "WebhookLacksEvents") : []
    return complete({ action, id: result.success }, kept)
  }
  const { failure } = result
  if (action === "create" && mayExist(failure)) {
    const again = yield* readHook(hooks, scope, wanted)
    if (again.hook !== undefined) return { ...again, written: { action, id: again.hook.id } }
  }
  if (!isRefusal(failure)) return yield* failure
  const refused: Reason = { _tag: "WebhookNotWritten", why: failure.why }
  return { ...read, problems: [...read.problems, refused], written: undefined }
})

export const ensureHook = (hooks: HostHooks, scope: HookScope, wanted: WantedHook, options: EnsureOptions) =>
  Effect.flatMap(readHook(hooks, scope, wanted), (read) => writeHook(hooks, scope, wanted, read, options))
