/**
 * The author's mention in a text that is rendered before the author is known: templates put a slot where `mentions` stands, and
 * sending fills it. No text from elsewhere can hold the slot (SafeText.ts).
 */
import { Effect } from "effect"
import type { Change } from "../domain/Change.ts"
import type { ForgeError } from "../forge/Forge.ts"
import { resolveAuthor } from "./Author.ts"
import type { ChannelMissing, Reach } from "./Channel.ts"
import type { ModelRun } from "../llm/ModelRun.ts"
import type { AuthorGuess } from "./AuthorGuess.ts"
import { tidy } from "./Tidy.ts"

export const mentionSlot = "<!-- aicr-author -->"

const account = (name: string | undefined): ReadonlyArray<string> =>
  name !== undefined && /^[\w.-]{1,100}$/.test(name) ? [`@${name}`] : []

/** For `all` only GitLab has a word; elsewhere everyone means those who have to do with the change. */
const everyone = ({ provider, author, requestedBy }: Change): ReadonlyArray<string> =>
  provider === "gitlab" ? ["@all"] : [...new Set([...account(author?.username), ...account(requestedBy)])]

/** The body of an operation with the slot filled. Asks the host only where there is a slot. */
export const mentioned = Effect.fnUntraced(function* (
  reach: Reach,
  { body, head }: { readonly body: string; readonly head: string }
): Effect.fn.Return<string, ForgeError | ChannelMissing, AuthorGuess | ModelRun> {
  if (!body.includes(mentionSlot)) return body
  const { change, channel } = reach
  const author = yield* resolveAuthor(reach, head)
  const found = account(author)
  const people = found.length === 0 && channel.mention_fallback === "all" ? everyone(change) : found
  return tidy(body.replaceAll(mentionSlot, people.join(" ")))
})
