/**
 * Keeps the limit of an application of WeCom (developer.work.weixin.qq.com, 90236): its messages of a day reach at most 200 times as many
 * persons as the corporation may have accounts; a message to several persons counts for each. The count is that of all nodes.
 */
import { createHash } from "node:crypto"
import { Clock, Duration, Effect } from "effect"
import type { StoreError } from "../database/StoreError.ts"
import { ForgeError } from "../forge/ForgeError.ts"
import { ChatSends } from "../store/ChatSends.ts"
import { Directories } from "./members/Directories.ts"
import type { DirectoryApp } from "./members/Directories.ts"
import type { MemberScope } from "./members/Scope.ts"

/** Accounts of a corporation whose limit is not configured. */
const defaultAccounts = 100
const personsPerAccount = 200
const dayMillis = Duration.toMillis("1 day")
/** The day of the platform begins at midnight in China. */
const offsetMillis = Duration.toMillis("8 hours")
/** Maximum age of the listings of departments and tags. */
const listingMillis = Duration.toMillis("1 hour")

export interface LimitedApp {
  readonly baseUrl: string
  readonly corpId: string
  readonly agentId: string
  readonly accounts: number | undefined
}

const toChinaDay = (now: number): string => new Date(now + offsetMillis).toISOString().slice(0, 10)

const untilNextDay = (now: number): number => dayMillis - ((now + offsetMillis) % dayMillis)

const operation = "POST /cgi-bin/message/send"
const unavailable = ({ why }: StoreError) => new ForgeError({ reason: "unavailable", operation, why })

/** Sends a message to so many persons, or fails until the next day. */
export const withinDailyPersons = Effect.fnUntraced(function* <A, R>(
  { accounts = defaultAccounts, agentId, baseUrl, corpId }: LimitedApp,
  count: number,
  send: Effect.Effect<A, ForgeError, R>
) {
  const sends = yield* ChatSends
  const app = createHash("sha256")
    .update(JSON.stringify([baseUrl, corpId, agentId]))
    .digest("base64url")
  const now = yield* Clock.currentTimeMillis
  const [day, limit] = [toChinaDay(now), accounts * personsPerAccount]
  const persons = Math.min(count, accounts)
  if (!(yield* Effect.mapError(sends.take(app, day, persons, limit), unavailable)))
    return yield* new ForgeError({
      reason: "rate_limited",
      operation,
      why: {
        _tag: "RequestFailed",
        operation,
        why: { _tag: "DailyPersonsReached", limit, each: personsPerAccount, accounts }
      },
      retryAfterMillis: untilNextDay(now)
    })
  return yield* Effect.tapError(send, ({ reason }) =>
    reason === "unknown_outcome" ? Effect.void : Effect.ignore(sends.refund(app, day, persons))
  )
})

export interface Recipients {
  readonly users?: ReadonlyArray<string> | undefined
  readonly parties?: ReadonlyArray<string> | undefined
  readonly tags?: ReadonlyArray<string> | undefined
}

/** Counts the persons of a message. A department or tag that cannot be listed counts as all accounts. */
export const countPersons = Effect.fnUntraced(function* (
  app: DirectoryApp,
  { parties = [], tags = [], users = [] }: Recipients,
  accounts = defaultAccounts
) {
  if (users.includes("@all")) return accounts
  const { listScope } = yield* Directories
  const scopes: ReadonlyArray<MemberScope> = [
    ...parties.map((id) => ({ kind: "wecom_department", id, recursive: true }) as const),
    ...tags.map((id) => ({ kind: "wecom_tag", id }) as const)
  ]
  const sizes = yield* Effect.forEach(scopes, (scope) =>
    Effect.match(listScope(app, scope, listingMillis), { onFailure: () => accounts, onSuccess: ({ size }) => size })
  )
  return sizes.reduce((sum, persons) => sum + persons, users.length)
})
