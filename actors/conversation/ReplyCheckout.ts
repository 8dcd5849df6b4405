/**
 * Checks out the code that a model may read for a reply, with the rights of the least trusted person: of those who wrote in the conversation, and
 * those who control the content of the change (Outsider.ts). Nothing is read before a model requests it.
 */
import { Effect } from "effect"
import { cloneUrl } from "../../src/domain/HostUrls.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { Vcs } from "../../src/vcs/Checkout.ts"
import { noHost, readHeadPushers, resolveCheckout } from "../review/AnalyseChange.ts"
import { findOutsider } from "../review/Outsider.ts"
import type { ReplySource, ReplySubject } from "./ReplySource.ts"

type Conversing = Pick<ReplySource, "conversation" | "isOfPeople">

/** Returns the people of a conversation; undefined if it has others. */
const listPeople = ({ conversation, isOfPeople }: Conversing): ReadonlyArray<string> | undefined => {
  const authors = conversation.texts.flatMap(({ author, isOurs }) => (isOurs ? [] : [author]))
  return isOfPeople && authors.every((author) => author !== undefined) ? authors : undefined
}

export const openHead = Effect.fnUntraced(function* (
  conversing: Conversing,
  { base, change, head, work }: ReplySubject
) {
  const { profile, workspace } = work
  const code = { base, change, head }
  const { baseUrl } = profile
  if (baseUrl === undefined || !isForgeKind(profile.kind)) return yield* noHost(profile)
  const forges = yield* Forges
  const client = forges.client(profile)
  const readers = listPeople(conversing)
  const outsider =
    readers === undefined
      ? "the author of a comment, who is a program or not named by the host,"
      : yield* findOutsider(change, workspace, client, readHeadPushers(code), readers)
  const url = cloneUrl(baseUrl, change.repo)
  const authorization = yield* client.gitAuthorization(change.repo)
  const request = resolveCheckout(code, work, forges.of(profile.kind), { url, authorization, rules: undefined })
  return { checkout: yield* (yield* Vcs).checkout(request), outsider }
})
