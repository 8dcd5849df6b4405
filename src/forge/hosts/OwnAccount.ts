/**
 * The account of a credential. Hosts let an account be renamed, so its texts are recognised by its id; its name is only for hosts that
 * return no id, and for lists that a host filters by name. It is read again after ten minutes.
 */
import { Clock, Duration, Effect } from "effect"
import type { Person } from "../../domain/Change.ts"
import type { ForgeError } from "../ForgeError.ts"
import { sameName } from "../http/Profile.ts"

export interface Account extends Person {
  /** Undefined where the host does not return it, as for an app of GitHub. */
  readonly id?: number | undefined
}

/** Author of a text, as a host returns it. */
export interface Author {
  readonly id?: number | null | undefined
  readonly username: string | undefined
}

/** Returns whether the account wrote the text. */
export const isBy = ({ id, username }: Author, account: Account): boolean =>
  account.id === undefined || id === undefined || id === null ? sameName(username, account.username) : id === account.id

const maxAgeMillis = Duration.toMillis("10 minutes")

export interface OwnAccount {
  readonly self: Effect.Effect<Account, ForgeError>
  /** Reads it now. */
  readonly renewed: Effect.Effect<Account, ForgeError>
}

export const ownAccount = (read: Effect.Effect<Account, ForgeError>): OwnAccount => {
  let cached: { readonly account: Account; readonly until: number } | undefined
  const renewed = Effect.gen(function* () {
    const account = yield* read
    cached = { account, until: (yield* Clock.currentTimeMillis) + maxAgeMillis }
    return account
  })
  const self = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    cached !== undefined && now < cached.until ? Effect.succeed(cached.account) : renewed
  )
  return { self, renewed }
}

/** Lists what the account created, by its name, and again under its new name if the host has no account of the old one. */
export const listCreated = <A>(
  { renewed, self }: OwnAccount,
  list: (account: Account) => Effect.Effect<A, ForgeError>
): Effect.Effect<A, ForgeError> =>
  Effect.flatMap(self, (account) =>
    Effect.catchIf(
      list(account),
      ({ reason }) => reason === "not_found" || reason === "invalid",
      (error) => Effect.flatMap(renewed, (now) => (now.username === account.username ? Effect.fail(error) : list(now)))
    )
  )
