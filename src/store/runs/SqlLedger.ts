/** Stores the ledger in the tables `ledger_accounts` and `ledger_reservations`. Amounts are whole billionths of a US dollar. */
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { deleteInSteps } from "../../database/sql/DeleteInSteps.ts"
import type { ReservationId } from "../../domain/Keys.ts"
import { fromNanos, noMoney, toNanos } from "../../domain/Money.ts"
import type { Usd } from "../../domain/Money.ts"
import { Ledger } from "../Ledger.ts"
import type { DayAccount, LedgerResult } from "../Ledger.ts"
import { unavailable } from "../../database/sql/StoreFailure.ts"

const runAccount = (runId: string): string => `run:${runId}`
const authorAccount = (author: string, day: string): string => `author:${day}:${author}`
const countAccount = (subject: string, period: string): string => `count:${period}:${subject}`
const teamAccount = (team: string, day: string): string => `team:${day}:${team}`
const dayAccount = (repository: string, day: string): string => `day:${day}:${repository}`

const accountOf = (account: Parameters<Ledger["Service"]["committed"]>[0]): string => {
  if ("runId" in account) return runAccount(account.runId)
  if ("team" in account) return teamAccount(account.team, account.day)
  return "author" in account ? authorAccount(account.author, account.day) : dayAccount(account.repository, account.day)
}

const maxNanos = (capUsd: Usd | undefined): number => (capUsd === undefined ? Number.MAX_SAFE_INTEGER : toNanos(capUsd))

interface Open {
  readonly run_account: string
  readonly day_account: string
  /** Null without an author. */
  readonly author_account: string | null
  /** Null without a team. */
  readonly team_account: string | null
  readonly amount: number
}

const isAccount = (account: string | null): account is string => account !== null

/** A closed reservation of no money. */
const nothing = {
  run_account: "",
  day_account: "",
  author_account: null,
  team_account: null,
  amount: 0,
  status: "closed",
  owner: ""
}

/** Open reservations read per sweep. */
const sweepSize = 1000

const committedOf = (sql: SqlClient.SqlClient, account: string) =>
  Effect.map(sql<{ committed: number }>`SELECT committed FROM ledger_accounts WHERE id = ${account}`, ([row]) =>
    Number(row?.committed ?? 0)
  )

/** Returns the amount of a run in billionths of a US dollar; undefined if it never reserved one. */
export const findRunNanos = (sql: SqlClient.SqlClient, runId: string) =>
  Effect.map(
    sql<{ committed: number }>`SELECT committed FROM ledger_accounts WHERE id = ${runAccount(runId)}`,
    ([row]) => row?.committed
  )

/** Returns the sum of open reservations of an account. */
const openOf = (sql: SqlClient.SqlClient, account: string) =>
  Effect.map(
    sql<{ amount: number | null }>`SELECT SUM(amount) AS amount FROM ledger_reservations
      WHERE status = 'open'
        AND (run_account = ${account} OR day_account = ${account} OR author_account = ${account} OR team_account = ${account})`,
    ([row]) => Number(row?.amount ?? 0)
  )

/** Adds to the account; returns false if the sum would exceed the cap. One statement, so that no other addition comes in between. */
const add = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  account: string,
  amount: number,
  max: number,
  now: number
) {
  if (amount > max) return false
  const added = yield* sql`
    INSERT INTO ledger_accounts ${sql.insert({ id: account, committed: amount, updated_at: now })}
    ON CONFLICT (id) DO UPDATE SET
      committed = ledger_accounts.committed + excluded.committed, updated_at = excluded.updated_at
    WHERE ledger_accounts.committed + excluded.committed <= ${max}
    RETURNING id`
  return added.length > 0
})

const reserve = (sql: SqlClient.SqlClient): Ledger["Service"]["reserve"] =>
  Effect.fnUntraced(
    function* (request, now) {
      const amount = toNanos(request.usd)
      const run = runAccount(request.runId)
      const day = dayAccount(request.repository, request.day)
      const author = request.author === undefined ? undefined : authorAccount(request.author, request.day)
      const team = request.team === undefined ? undefined : teamAccount(request.team, request.day)
      const inserted = yield* sql`
        INSERT INTO ledger_reservations ${sql.insert({
          id: request.id,
          run_account: run,
          day_account: day,
          author_account: author ?? null,
          team_account: team ?? null,
          amount,
          status: "open",
          owner: request.owner,
          reserved_at: now
        })} ON CONFLICT (id) DO NOTHING RETURNING id`
      if (inserted.length === 0) return { _tag: "Reserved" } satisfies LedgerResult
      const accounts = [
        { kind: "run", id: run, cap: request.runCapUsd },
        { kind: "day", id: day, cap: request.dayCapUsd },
        ...(author === undefined ? [] : [{ kind: "author", id: author, cap: request.authorCapUsd } as const]),
        ...(team === undefined ? [] : [{ kind: "team", id: team, cap: request.teamCapUsd } as const])
      ] as const
      for (const [index, account] of accounts.entries()) {
        if (yield* add(sql, account.id, amount, maxNanos(account.cap), now)) continue
        for (const { id } of accounts.slice(0, index))
          yield* sql`UPDATE ledger_accounts SET committed = committed - ${amount} WHERE id = ${id}`
        yield* sql`DELETE FROM ledger_reservations WHERE id = ${request.id}`
        const committedUsd = fromNanos(yield* committedOf(sql, account.id))
        const openUsd = fromNanos(yield* openOf(sql, account.id))
        return { _tag: "Refused", account: account.kind, committedUsd, openUsd } satisfies LedgerResult
      }
      return { _tag: "Reserved" } satisfies LedgerResult
    },
    sql.withTransaction,
    unavailable("ledger.reserve")
  )

/** Closes an open reservation with its actual amount. */
const close = (sql: SqlClient.SqlClient) =>
  Effect.fnUntraced(
    function* (id: ReservationId, usd: Usd | undefined, now: number) {
      const [open] = yield* sql<Open>`
        UPDATE ledger_reservations SET status = 'closed' WHERE id = ${id} AND status = 'open'
        RETURNING run_account, day_account, author_account, team_account, amount`
      if (open === undefined) return
      const difference = usd === undefined ? 0 : toNanos(usd) - Number(open.amount)
      // The order is that of `reserve`, so that two operations never deadlock.
      for (const account of [open.run_account, open.day_account, open.author_account, open.team_account].filter(
        isAccount
      ))
        yield* sql`UPDATE ledger_accounts SET committed = committed + ${difference}, updated_at = ${now}
          WHERE id = ${account}`
    },
    sql.withTransaction,
    unavailable("ledger.close")
  )

const count = (sql: SqlClient.SqlClient): Ledger["Service"]["count"] =>
  Effect.fnUntraced(
    function* ({ id, subject, period, max }, now) {
      const account = countAccount(subject, period)
      const inserted = yield* sql`
        INSERT INTO ledger_reservations ${sql.insert({ ...nothing, id, author_account: account, reserved_at: now })}
        ON CONFLICT (id) DO NOTHING RETURNING id`
      if (inserted.length === 0 || (yield* add(sql, account, 1, max, now))) return true
      yield* sql`DELETE FROM ledger_reservations WHERE id = ${id}`
      return false
    },
    sql.withTransaction,
    unavailable("ledger.count")
  )

/** Refunds a reservation, even one that does not exist yet: its caller has given up, and it may still arrive. */
const refund = (sql: SqlClient.SqlClient): Ledger["Service"]["refund"] =>
  Effect.fnUntraced(
    function* (id: ReservationId, now: number) {
      yield* sql`INSERT INTO ledger_reservations ${sql.insert({ ...nothing, id, reserved_at: now })}
        ON CONFLICT (id) DO NOTHING`
      yield* close(sql)(id, noMoney, now)
    },
    sql.withTransaction,
    unavailable("ledger.refund")
  )

const closeLost = (sql: SqlClient.SqlClient): Ledger["Service"]["closeLost"] =>
  Effect.fnUntraced(function* (lost, before, now) {
    const open = yield* sql<{ id: ReservationId; owner: string; reserved_at: number }>`
      SELECT id, owner, reserved_at FROM ledger_reservations WHERE status = 'open'
      ORDER BY reserved_at LIMIT ${sweepSize}`.pipe(unavailable("ledger.closeLost"))
    const gone = open.filter(({ owner, reserved_at }) => Number(reserved_at) < before || lost(owner))
    for (const { id } of gone) yield* close(sql)(id, undefined, now)
    return gone.length
  })

const committed =
  (sql: SqlClient.SqlClient): Ledger["Service"]["committed"] =>
  (account) =>
    committedOf(sql, accountOf(account)).pipe(Effect.map(fromNanos), unavailable("ledger.committed"))

/** Beginning of the ids of the accounts of a day. */
const dayPrefixes: Readonly<Record<DayAccount["kind"], (day: string) => string>> = {
  repository: (day) => dayAccount("", day),
  author: (day) => authorAccount("", day),
  team: (day) => teamAccount("", day)
}
const dayKinds = Object.keys(dayPrefixes).filter((kind): kind is DayAccount["kind"] => kind in dayPrefixes)

/** Accounts of the day have changed since its start, and the table has an index on the time of the change. */
const listDay =
  (sql: SqlClient.SqlClient): Ledger["Service"]["listDay"] =>
  (day, limit) =>
    Effect.gen(function* () {
      const prefixes = dayKinds.map((kind) => ({ kind, prefix: dayPrefixes[kind](day) }))
      const accounts = yield* sql<{ id: string; committed: number }>`
        SELECT id, committed FROM ledger_accounts
        WHERE updated_at >= ${Date.parse(`${day}T00:00:00Z`)}
          AND ${sql.or(prefixes.map(({ prefix }) => sql`SUBSTR(id, 1, ${prefix.length}) = ${prefix}`))}
        ORDER BY committed DESC, id LIMIT ${limit}`
      const open = yield* sql<Pick<Open, "day_account" | "author_account" | "team_account" | "amount">>`
        SELECT day_account, author_account, team_account, SUM(amount) AS amount FROM ledger_reservations
        WHERE status = 'open' GROUP BY day_account, author_account, team_account`
      return accounts.flatMap(({ committed: nanos, id }): ReadonlyArray<DayAccount> => {
        const reserved = open
          .filter((one) => one.day_account === id || one.author_account === id || one.team_account === id)
          .reduce((sum, { amount }) => sum + Number(amount), 0)
        return prefixes
          .filter(({ prefix }) => id.startsWith(prefix))
          .map(({ kind, prefix }) => ({
            kind,
            name: id.slice(prefix.length),
            spentUsd: fromNanos(Number(nanos) - reserved),
            reservedUsd: fromNanos(reserved)
          }))
      })
    }).pipe(unavailable("ledger.listDay"))

const prune =
  (sql: SqlClient.SqlClient): Ledger["Service"]["prune"] =>
  (before) =>
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

export const layer: Layer.Layer<Ledger, never, SqlClient.SqlClient> = Layer.effect(
  Ledger,
  Effect.map(SqlClient.SqlClient, (sql) =>
    Ledger.of({
      reserve: reserve(sql),
      settle: close(sql),
      refund: refund(sql),
      count: count(sql),
      closeLost: closeLost(sql),
      committed: committed(sql),
      listDay: listDay(sql),
      prune: prune(sql)
    })
  )
)
