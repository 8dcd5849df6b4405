/**
 * Stores which webhooks the inventory of a trigger found (actors/catchup/Inventory.ts). `inventories` has one row per trigger, `inventory_hooks`
 * one per repository and per wider webhook. No secret is stored: `secretDigest` only serves to notice another secret.
 */
import { Array as Arr, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { StoreError } from "../database/StoreError.ts"
import { selectAs, unavailable } from "../database/sql/StoreFailure.ts"
import * as Field from "../domain/Field.ts"
import { record } from "../domain/Record.ts"
import type { RecordValues } from "../domain/Record.ts"

/** State of the webhook of a repository. */
export const HookState = Schema.Literals([
  "complete",
  "missing",
  /** It has problems. */
  "broken",
  /** The credential may not list it. */
  "unreadable"
])
export type HookState = typeof HookState.Type

export const InventoryHook = record({
  trigger: Field.named("trigger_name", Field.text),
  /** Key of a repository, an owner, or the site or app. */
  scope: Field.text,
  /** Name of the repository or owner; empty for the site or app. */
  name: Field.outsideText,
  state: Field.stored(HookState),
  /** Set unless it is complete. */
  problem: Field.optional(Field.reason),
  /** The webhook that the service wrote last, and the digest of its secret. */
  hookId: Field.optional(Field.text),
  secretDigest: Field.optional(Field.text),
  /** Digest of what was wanted at the last check: another one makes the next check due. */
  wanted: Field.text,
  /** Start of the check that found it missing or broken, while it is. */
  brokenSince: Field.optional(Field.time),
  checkedAt: Field.time
})
export type InventoryHook = RecordValues<typeof InventoryHook>

export const Inventory = record({
  trigger: Field.named("trigger_name", Field.text),
  /** The earliest request that no check has served. */
  requestedAt: Field.optional(Field.time),
  /** The earliest report of a change of repositories since the last complete list of them. */
  changedAt: Field.optional(Field.time),
  /** The end of the last check. */
  checkedAt: Field.optional(Field.time),
  /** Number of repositories, and of those that a wider webhook serves. */
  repositories: Field.counter,
  served: Field.counter,
  /** Number of webhooks that were created and repaired since the trigger exists. */
  created: Field.counter,
  repaired: Field.counter,
  /** Set if the last check is incomplete; the next one continues. */
  failure: Field.optional(Field.reason)
})
export type Inventory = RecordValues<typeof Inventory>

export const HookCount = record({
  trigger: Field.named("trigger_name", Field.text),
  state: Field.stored(HookState),
  count: Field.counter,
  /** Start of the check that found the newest missing or broken one. */
  since: Field.optional(Field.time)
})
export type HookCount = RecordValues<typeof HookCount>

/** Writers of the webhooks of a trigger. A new incarnation of a writer takes over immediately, another writer when the hold has expired. */
type HookWriter = "inventory" | "setup"

interface EndedCheck {
  /** Start of the check: requests up to it are served. */
  readonly startedAt: number
  readonly at: number
  readonly repositories: number
  readonly served: number
  /** Whether the repositories of all owners are known: then reports of changes up to the start are served, too. */
  readonly isListed: boolean
  readonly failure: Inventory["failure"]
}

/** Result of a check of some webhooks. */
interface WrittenHooks {
  /** Start of the check. */
  readonly startedAt: number
  readonly created: number
  readonly repaired: number
}

export class Inventories extends Context.Service<
  Inventories,
  {
    readonly list: Effect.Effect<ReadonlyArray<Inventory>, StoreError>
    /** Webhooks by trigger and state. */
    readonly counts: Effect.Effect<ReadonlyArray<HookCount>, StoreError>
    readonly hooks: (trigger: string) => Effect.Effect<ReadonlyArray<InventoryHook>, StoreError>
    /** The first webhooks of a trigger that are not complete: those that may not be read last, otherwise by name. */
    readonly problems: (trigger: string, limit: number) => Effect.Effect<ReadonlyArray<InventoryHook>, StoreError>
    /** Requests a check of all webhooks. A request that waits already does not change. */
    readonly request: (trigger: string, now: number) => Effect.Effect<void, StoreError>
    /** Reports that repositories of triggers changed, so that the next check lists them again. */
    readonly changed: (triggers: ReadonlyArray<string>, now: number) => Effect.Effect<void, StoreError>
    /** Takes the right to write webhooks of a trigger. Returns a fencing token; undefined while another writer holds it. */
    readonly hold: (trigger: string, writer: HookWriter, now: number) => Effect.Effect<number | undefined, StoreError>
    readonly isHeld: (trigger: string, token: number) => Effect.Effect<boolean, StoreError>
    readonly release: (trigger: string, token: number) => Effect.Effect<void, StoreError>
    /** Stores webhooks. The store keeps since when each is broken. */
    readonly save: (hooks: ReadonlyArray<InventoryHook>, written: WrittenHooks) => Effect.Effect<void, StoreError>
    readonly remove: (trigger: string, scopes: ReadonlyArray<string>) => Effect.Effect<void, StoreError>
    /** Records the end of a check, and ends the requests that it served. */
    readonly checked: (trigger: string, check: EndedCheck) => Effect.Effect<void, StoreError>
  }
>()("aicr/store/Inventories") {}

const maxRows = 100

const isBroken = ({ state }: Pick<InventoryHook, "state">): boolean => state === "missing" || state === "broken"

/** Time in milliseconds after which another writer takes over from one that ended without a release. */
const holdMillis = 30_000

const hold =
  (sql: SqlClient.SqlClient): Inventories["Service"]["hold"] =>
  (trigger, writer, now) => {
    const row = { trigger_name: trigger, token: 1, held_by: writer, held_until: now + holdMillis }
    // A hold that is far in the future is that of a clock that was set back since then.
    return sql<{ readonly token: number | string }>`INSERT INTO inventories ${sql.insert(row)}
      ON CONFLICT (trigger_name) DO UPDATE SET
        token = COALESCE(inventories.token, 0) + 1,
        held_by = excluded.held_by, held_until = excluded.held_until
        WHERE inventories.held_by IS NULL OR inventories.held_by = ${writer}
          OR inventories.held_until <= ${now} OR inventories.held_until > ${now + 2 * holdMillis}
      RETURNING token`.pipe(
      Effect.map(([held]) => (held === undefined ? undefined : Number(held.token))),
      unavailable("inventories.hold")
    )
  }

const save =
  (sql: SqlClient.SqlClient): Inventories["Service"]["save"] =>
  (hooks, { created, repaired, startedAt }) =>
    Effect.gen(function* () {
      const rows = hooks.map((hook) => ({ ...hook, brokenSince: isBroken(hook) ? startedAt : undefined }))
      yield* Effect.forEach(
        Arr.chunksOf(rows, maxRows),
        (some) => sql`INSERT INTO inventory_hooks ${sql.insert(Arr.map(some, InventoryHook.toRow))}
          ON CONFLICT (trigger_name, scope) DO UPDATE SET
            name = excluded.name, state = excluded.state, problem = excluded.problem, hook_id = excluded.hook_id,
            secret_digest = excluded.secret_digest, wanted = excluded.wanted, checked_at = excluded.checked_at,
            broken_since = CASE WHEN excluded.broken_since IS NULL THEN NULL
              ELSE COALESCE(inventory_hooks.broken_since, excluded.broken_since) END`,
        { discard: true }
      )
      const [first] = hooks
      if (first === undefined || created + repaired === 0) return
      yield* sql`INSERT INTO inventories ${sql.insert({ trigger_name: first.trigger, created, repaired })}
        ON CONFLICT (trigger_name) DO UPDATE SET
          created = COALESCE(inventories.created, 0) + excluded.created,
          repaired = COALESCE(inventories.repaired, 0) + excluded.repaired`
    }).pipe(unavailable("inventories.save"))

const checked =
  (sql: SqlClient.SqlClient): Inventories["Service"]["checked"] =>
  (trigger, { at, failure, isListed, repositories, served, startedAt }) => {
    const listedAt = isListed ? startedAt : -1
    const row = {
      trigger_name: trigger,
      checked_at: at,
      repositories,
      served,
      failure: Inventory.toColumn("failure", failure)
    }
    return sql`INSERT INTO inventories ${sql.insert(row)}
      ON CONFLICT (trigger_name) DO UPDATE SET
        checked_at = excluded.checked_at, repositories = excluded.repositories, served = excluded.served,
        failure = excluded.failure,
        requested_at = CASE WHEN inventories.requested_at <= ${startedAt} THEN NULL ELSE inventories.requested_at END,
        changed_at = CASE WHEN inventories.changed_at <= ${listedAt} THEN NULL ELSE inventories.changed_at END`.pipe(
      Effect.asVoid,
      unavailable("inventories.checked")
    )
  }

export const layer: Layer.Layer<Inventories, never, SqlClient.SqlClient> = Layer.effect(
  Inventories,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Inventories.of({
      list: selectAs(Inventory, "inventories.list", sql`SELECT * FROM inventories ORDER BY trigger_name`).pipe(
        unavailable("inventories.list")
      ),
      counts: selectAs(
        HookCount,
        "inventories.counts",
        sql`SELECT trigger_name, state, CAST(COUNT(*) AS INTEGER) AS count, MAX(broken_since) AS since
          FROM inventory_hooks GROUP BY trigger_name, state`
      ).pipe(unavailable("inventories.counts")),
      hooks: (trigger) =>
        selectAs(
          InventoryHook,
          "inventories.hooks",
          sql`SELECT * FROM inventory_hooks WHERE trigger_name = ${trigger} ORDER BY scope`
        ).pipe(unavailable("inventories.hooks")),
      problems: (trigger, limit) =>
        selectAs(
          InventoryHook,
          "inventories.problems",
          sql`SELECT * FROM inventory_hooks WHERE trigger_name = ${trigger} AND state <> 'complete'
            ORDER BY CASE WHEN state = 'unreadable' THEN 1 ELSE 0 END, scope LIMIT ${limit}`
        ).pipe(unavailable("inventories.problems")),
      request: (trigger, now) =>
        sql`INSERT INTO inventories ${sql.insert({ trigger_name: trigger, requested_at: now })}
          ON CONFLICT (trigger_name) DO UPDATE SET
            requested_at = COALESCE(inventories.requested_at, excluded.requested_at)`.pipe(
          Effect.asVoid,
          unavailable("inventories.request")
        ),
      changed: (triggers, now) =>
        Effect.forEach(
          triggers,
          (trigger) => sql`INSERT INTO inventories ${sql.insert({ trigger_name: trigger, changed_at: now })}
            ON CONFLICT (trigger_name) DO UPDATE SET changed_at = COALESCE(inventories.changed_at, excluded.changed_at)`,
          { discard: true }
        ).pipe(unavailable("inventories.changed")),
      hold: hold(sql),
      isHeld: (trigger, token) =>
        sql`SELECT 1 AS held FROM inventories WHERE trigger_name = ${trigger} AND token = ${token}
          AND held_by IS NOT NULL`.pipe(
          Effect.map((rows) => rows.length > 0),
          unavailable("inventories.isHeld")
        ),
      release: (trigger, token) =>
        sql`UPDATE inventories SET held_by = NULL, held_until = NULL
          WHERE trigger_name = ${trigger} AND token = ${token}`.pipe(Effect.asVoid, unavailable("inventories.release")),
      save: save(sql),
      remove: (trigger, scopes) =>
        Effect.forEach(
          Arr.chunksOf(scopes, maxRows),
          (some) => sql`DELETE FROM inventory_hooks WHERE trigger_name = ${trigger} AND scope IN ${sql.in(some)}`,
          { discard: true }
        ).pipe(unavailable("inventories.remove")),
      checked: checked(sql)
    })
  )
)
