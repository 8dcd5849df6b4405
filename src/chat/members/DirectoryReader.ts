/** Contract of `src/chat/<platform>/Directory.ts`: lists the people of a scope through the API of an application. */
import { Effect } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { requestFailed } from "../../forge/ForgeError.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { ChatMember } from "./Member.ts"
import type { MemberScope } from "./Scope.ts"

export interface DirectoryReader {
  /** Returns the platform's ids of the people of a scope. Fails if the platform does not return all of them. */
  readonly listScope: (scope: MemberScope) => Effect.Effect<ReadonlySet<string>, ForgeError>
  /** Returns the members of a chat; fails on platforms without such a list. */
  readonly listChat: (chat: string) => Effect.Effect<ReadonlyArray<ChatMember>, ForgeError>
}

/** Upper bounds of one listing. A larger scope matches no one. */
export const maxPeople = 100_000
export const maxDepartments = 5000

export const unreadable = (operation: string, why: Reason): ForgeError => requestFailed("invalid", operation, why)

/** Reads all pages. A short or an empty page is not the end; a repeated token is a mistake of the platform. */
export const readPages = Effect.fnUntraced(function* <A>(
  operation: string,
  read: (
    token: string
  ) => Effect.Effect<{ readonly items: ReadonlyArray<A>; readonly next: string | undefined }, ForgeError>
) {
  const all: Array<A> = []
  const tokens = new Set<string>()
  for (let token = ""; ;) {
    const { items, next } = yield* read(token)
    for (const item of items) all.push(item)
    if (all.length > maxPeople) return yield* unreadable(operation, { _tag: "TooManyListed", count: maxPeople })
    if (next === undefined) return all
    if (tokens.has(next)) return yield* unreadable(operation, { _tag: "PageRepeated" })
    tokens.add(next)
    token = next
  }
})
