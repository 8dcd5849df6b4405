/** Accounts of GitLab. */
import { Effect, Schema } from "effect"
import type { ForgeClient } from "../Forge.ts"
import type { Rest } from "../http/Http.ts"
import { Account } from "./Responses.ts"

const maxAssignees = 10

const accounts = (rest: Rest, query: Record<string, string>) =>
  rest.get({ path: "/users", query: { ...query, per_page: 2 } }, Schema.Array(Account))

/** Returns the ids of these accounts; unknown names are omitted. */
export const accountIds = Effect.fnUntraced(function* (rest: Rest, usernames: ReadonlyArray<string>) {
  const ids: Array<number> = []
  for (const username of usernames.slice(0, maxAssignees)) {
    const [account] = yield* accounts(rest, { username })
    if (account !== undefined) ids.push(account.id)
  }
  return ids
})

/** Returns the account with this address if there is exactly one. */
export const findAccount =
  (rest: Rest): NonNullable<ForgeClient["findAccount"]> =>
  (email) =>
    Effect.map(accounts(rest, { search: email }), (matches) =>
      matches.length === 1 ? matches[0]?.username : undefined
    )
