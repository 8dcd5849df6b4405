/**
 * Checks webhooks of a trigger, and creates or repairs them where its mode permits. What was found is stored in parts. Between two parts, `aicr
 * setup` may write. A check may be repeated at any step: a webhook is looked for before it is created.
 */
import { createHash } from "node:crypto"
import { Array as Arr, Clock, Effect, Metric } from "effect"
import type { Snapshot, TriggerProfile, Workspace } from "../../src/config/Snapshot.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { webhookSetups } from "../../src/domain/WebhookSetup.ts"
import { describeState, ensureHook, isHidden, scopeKey, scopeName, wantHook } from "../../src/forge/EnsureHook.ts"
import type { HookMode, HookWrite, WantedHook } from "../../src/forge/EnsureHook.ts"
import type { HookScope, HostHooks } from "../../src/forge/Forge.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { WriteOwner } from "../../src/forge/WriteOwner.ts"
import type { Writing } from "../../src/forge/WriteOwner.ts"
import { WritePermits } from "../../src/forge/WritePermits.ts"
import { hookWrites } from "../../src/observability/Metrics.ts"
import { Inventories } from "../../src/store/Inventories.ts"
import type { InventoryHook } from "../../src/store/Inventories.ts"

/** Webhooks that are checked between two saves, and at a time. */
const partSize = 40
const concurrency = 4

/** A check of the webhooks of a trigger. */
export interface InventoryCheck {
  readonly trigger: TriggerProfile
  readonly kind: ForgeKind
  readonly snapshot: Snapshot
  readonly hooks: HostHooks
  readonly mode: HookMode
  /** Digest of the current secret; undefined if none is configured. */
  readonly digest: string | undefined
  /** Start of the check, in milliseconds since the epoch. */
  readonly now: number
  /** Webhooks that were checked before this time, or longer ago than the interval, are checked again. */
  readonly requestedAt: number | undefined
  /** Set if the host reported that repositories changed since they were all listed. */
  readonly changedAt: number | undefined
  readonly intervalMillis: number
  /** Stored webhooks by scope. */
  readonly rows: Map<string, InventoryHook>
  /** Number of webhooks that were created and repaired. */
  readonly tally: Record<HookWrite, number>
}

/** A scope that has or needs a webhook, and the workspaces that use it. */
export interface NeededHook {
  readonly scope: HookScope
  readonly workspaces: ReadonlyArray<Workspace>
}

const wantedOf = ({ digest, kind, rows, snapshot }: InventoryCheck, { scope, workspaces }: NeededHook): WantedHook => {
  const { hookId, secretDigest } = rows.get(scopeKey(scope)) ?? {}
  const hasSecret = secretDigest === undefined || digest === undefined ? undefined : secretDigest === digest
  return wantHook(snapshot, kind, workspaces, { writtenId: hookId, hasSecret })
}

/** Returns a digest of everything that decides about a webhook. */
const digestWanted = ({ digest, mode }: InventoryCheck, { addresses, events }: WantedHook): string =>
  createHash("sha256")
    .update(JSON.stringify([addresses, events, digest, mode]))
    .digest("hex")
    .slice(0, 32)

const isDue = (check: InventoryCheck, needed: NeededHook): boolean => {
  const { intervalMillis, now, requestedAt, rows } = check
  const row = rows.get(scopeKey(needed.scope))
  if (row === undefined || row.wanted !== digestWanted(check, wantedOf(check, needed))) return true
  if (requestedAt !== undefined && row.checkedAt < requestedAt) return true
  // A clock that was set back delays no check.
  return Math.abs(now - row.checkedAt) >= intervalMillis
}

const noteWrite = Effect.fnUntraced(function* (
  { trigger: { name } }: InventoryCheck,
  scope: string,
  action: HookWrite
) {
  yield* Metric.update(Metric.withAttributes(hookWrites, { trigger: name, action }), 1)
  yield* action === "create"
    ? Effect.logInfo("webhook created", { trigger: name, scope })
    : Effect.logInfo("webhook repaired", { trigger: name, scope })
})

interface CheckedHook {
  readonly hook: InventoryHook
  readonly action: HookWrite | undefined
}

/** Checks one webhook. */
const checkHook = Effect.fnUntraced(function* (
  check: InventoryCheck,
  needed: NeededHook
): Effect.fn.Return<CheckedHook, ForgeError, Writing> {
  const { digest, hooks, kind, mode, rows, trigger } = check
  const { scope } = needed
  const [key, name, wanted] = [scopeKey(scope), scopeName(scope), wantedOf(check, needed)]
  const row = rows.get(key)
  const result = yield* Effect.result(ensureHook(hooks, scope, wanted, { mode, secret: trigger.webhookSecret }))
  if (result._tag === "Failure" && !isHidden(result.failure)) return yield* result.failure
  const checkedAt = yield* Clock.currentTimeMillis
  const common = { trigger: trigger.name, scope: key, name, wanted: digestWanted(check, wanted), checkedAt }
  if (result._tag === "Failure") {
    const problem = { _tag: "WebhooksNotListed", permission: webhookSetups[kind].hookRights } as const
    return { hook: { ...row, ...common, state: "unreadable", problem }, action: undefined }
  }
  const { written } = result.success
  if (written !== undefined) yield* noteWrite(check, key, written.action)
  const hook: InventoryHook = {
    ...common,
    ...describeState(result.success),
    hookId: written?.id ?? row?.hookId,
    secretDigest: written === undefined ? row?.secretDigest : digest
  }
  return { hook, action: written?.action }
})

const storeFailed = (why: Reason) => new ForgeError({ reason: "unavailable", operation: "inventory", why })

/** Every further request of the trigger would fail like this one. */
const isFatal = ({ isOutage, reason }: ForgeError): boolean =>
  isOutage === true || reason === "unauthorized" || reason === "rate_limited"

/** Checks a part of the webhooks under a hold of the trigger. Returns the first failure. */
const checkPart = Effect.fnUntraced(function* (check: InventoryCheck, part: ReadonlyArray<NeededHook>) {
  const { rows, tally, trigger } = check
  const inventories = yield* Inventories
  const token = yield* inventories.hold(trigger.name, "inventory", yield* Clock.currentTimeMillis)
  if (token === undefined) return storeFailed({ _tag: "WebhooksSetUp" })
  const fence = inventories.isHeld(trigger.name, token).pipe(
    Effect.mapError(({ why }) => storeFailed(why)),
    Effect.flatMap((isHeld) => (isHeld ? Effect.void : Effect.fail(storeFailed({ _tag: "WebhooksSetUp" }))))
  )
  const results = yield* Effect.forEach(part, (needed) => Effect.result(checkHook(check, needed)), {
    concurrency
  }).pipe(Effect.provideService(WriteOwner, { fence, guard: Effect.void }), Effect.provide(WritePermits.layerAlone))
  const checked = results.flatMap((result) => (result._tag === "Success" ? result.success : []))
  const count = (action: HookWrite) => checked.filter((one) => one.action === action).length
  const written = { create: count("create"), repair: count("repair") }
  yield* inventories.save(
    checked.map(({ hook }) => hook),
    { startedAt: check.now, created: written.create, repaired: written.repair }
  )
  for (const { hook } of checked) rows.set(hook.scope, hook)
  tally.create += written.create
  tally.repair += written.repair
  yield* inventories.release(trigger.name, token)
  const failures = results.flatMap((result) => (result._tag === "Failure" ? result.failure : []))
  return failures.find(isFatal) ?? failures[0]
})

/** Checks the webhooks that are due. Returns why some were not checked. */
export const checkDue = Effect.fnUntraced(function* (check: InventoryCheck, needed: Iterable<NeededHook>) {
  let failure: ForgeError | undefined
  for (const part of Arr.chunksOf(
    [...needed].filter((one) => isDue(check, one)),
    partSize
  )) {
    const found = yield* checkPart(check, part)
    failure ??= found
    if (found !== undefined && isFatal(found)) break
  }
  return failure
})
