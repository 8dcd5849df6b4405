/** The ledger in the tables `ledger_accounts` and `ledger_reservations`. Amounts are whole billionths of a US dollar. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "./DeleteInSteps.ts"
import { Ledger } from "./Ledger.ts"
import type { LedgerAnswer } from "./Ledger.ts"
import { unavailable } from "./StoreFailure.ts"

const nanos = (usd: number): number => Math.ceil(usd * 1e9)
const runAccount = (runId: string): string => `run:${runId}`
const dayAccount = (repository: string, day: string): string => `day:${day}:${repository}`

/** Open reservations looked at in one sweep. */
const sweepSize = 1000

export const layer: Layer.Layer<Ledger, never, SqlClient.SqlClient> = Layer.effect(
  Ledger,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient

    const committedOf = (account: string) =>
      Effect.map(sql<{ committed: number }>`SELECT committed FROM ledger_accounts WHERE id = ${account}`, ([row]) =>
        Number(row?.committed ?? 0)
      )

    /** Adds to the account unless that passes the cap; false: it would. One statement, so that no other addition comes between. */
    const add = Effect.fnUntraced(function* (account: string, amount: number, cap: number | undefined, now: number) {
      const most = cap === undefined ? Number.MAX_SAFE_INTEGER : nanos(cap)
      if (amount > most) return false
      const added = yield* sql`
        INSERT INTO ledger_accounts ${sql.insert({ id: account, committed: amount, updated_at: now })}
        ON CONFLICT (id) DO UPDATE SET
          committed = ledger_accounts.committed + excluded.committed, updated_at = excluded.updated_at
        WHERE ledger_accounts.committed + excluded.committed <= ${most}
        RETURNING id`
      return added.length > 0
    })

    const reserve: Ledger["Service"]["reserve"] = Effect.fnUntraced(
      function* (asked, now) {
        const amount = nanos(asked.usd)
        const run = runAccount(asked.runId)
        const day = dayAccount(asked.repository, asked.day)
        const made = yield* sql`
          INSERT INTO ledger_reservations ${sql.insert({
            id: asked.id,
            run_account: run,
            day_account: day,
            amount,
            status: "open",
            owner: asked.owner,
            reserved_at: now
          })} ON CONFLICT (id) DO NOTHING RETURNING id`
        if (made.length === 0) return { _tag: "Reserved" } satisfies LedgerAnswer
        const refused = !(yield* add(run, amount, asked.runCapUsd, now))
          ? "run"
          : !(yield* add(day, amount, asked.dayCapUsd, now))
            ? "day"
            : undefined
        if (refused === undefined) return { _tag: "Reserved" } satisfies LedgerAnswer
        if (refused === "day")
          yield* sql`UPDATE ledger_accounts SET committed = committed - ${amount} WHERE id = ${run}`
        yield* sql`DELETE FROM ledger_reservations WHERE id = ${asked.id}`
        const committedUsd = (yield* committedOf(refused === "run" ? run : day)) / 1e9
        return { _tag: "Refused", account: refused, committedUsd } satisfies LedgerAnswer
      },
      sql.withTransaction,
      unavailable("ledger.reserve")
    )

    /** Closes an open reservation with what it came to. */
    const close = Effect.fnUntraced(
      function* (id: string, usd: number | undefined, now: number) {
        const [open] = yield* sql<{ run_account: string; day_account: string; amount: number }>`
          UPDATE ledger_reservations SET status = 'closed' WHERE id = ${id} AND status = 'open'
          RETURNING run_account, day_account, amount`
        if (open === undefined) return
        const difference = usd === undefined ? 0 : nanos(usd) - Number(open.amount)
        // In the order in which `reserve` takes them, so that nobody waits for each other.
        for (const account of [open.run_account, open.day_account])
          yield* sql`UPDATE ledger_accounts SET committed = committed + ${difference}, updated_at = ${now}
            WHERE id = ${account}`
      },
      sql.withTransaction,
      unavailable("ledger.close")
    )

    /** Also what is not there yet: whoever asked for it has given up, and it may still come. */
    const refund = Effect.fnUntraced(
      function* (id: string, now: number) {
        yield* sql`INSERT INTO ledger_reservations ${sql.insert({
          id,
          run_account: "",
          day_account: "",
          amount: 0,
          status: "closed",
          owner: "",
          reserved_at: now
        })} ON CONFLICT (id) DO NOTHING`
        yield* close(id, 0, now)
      },
      sql.withTransaction,
      unavailable("ledger.refund")
    )

    return Ledger.of({
      reserve,
      settle: close,
      refund,

      closeLost: Effect.fnUntraced(function* (lost, before, now) {
        const open = yield* sql<{ id: string; owner: string; reserved_at: number }>`
          SELECT id, owner, reserved_at FROM ledger_reservations WHERE status = 'open'
          ORDER BY reserved_at LIMIT ${sweepSize}`.pipe(unavailable("ledger.closeLost"))
        const gone = open.filter(({ owner, reserved_at }) => Number(reserved_at) < before || lost(owner))
        for (const { id } of gone) yield* close(id, undefined, now)
        return gone.length
      }),

      committed: (account) =>
        committedOf("runId" in account ? runAccount(account.runId) : dayAccount(account.repository, account.day)).pipe(
          Effect.map((amount) => amount / 1e9),
          unavailable("ledger.committed")
        ),

      prune: (before) =>
        Effect.gen(function* () {
          yield* deleteInSteps(
            (step) => sql`
              DELETE FROM ledger_reservations WHERE id IN (
                SELECT id FROM ledger_reservations WHERE status = 'closed' AND reserved_at < ${before} LIMIT ${step})
              RETURNING id`
          )
          return yield* deleteInSteps(
            (step) => sql`
              DELETE FROM ledger_accounts WHERE id IN (
                SELECT id FROM ledger_accounts WHERE updated_at < ${before} LIMIT ${step})
              RETURNING id`
          )
        }).pipe(unavailable("ledger.prune"))
    })
  })
)
