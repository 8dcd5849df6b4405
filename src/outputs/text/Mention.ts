/**
 * Mentions the author in a text that is rendered before the author is known: templates render `mentions` as a slot, which is
 * filled when the text is sent. External text cannot contain the slot (SafeText.ts).
 */
import { Effect } from "effect"
import type { Change } from "../../domain/Change.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { resolveAuthor } from "../channels/Author.ts"
import type { ChannelMissing, ChannelContext } from "../channels/Channel.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import type { AuthorGuess } from "../AuthorGuess.ts"
import { tidy } from "./Tidy.ts"

export const mentionSlot = "<!-- aicr-author -->"

const account = (name: string | undefined): ReadonlyArray<string> =>
  name !== undefined && /^[\w.-]{1,100}$/.test(name) ? [`@${name}`] : []

/** Only GitLab has a mention for `all`; elsewhere it means the people involved in the change. */
const everyone = ({ provider, author, requestedBy }: Change): ReadonlyArray<string> =>
  provider === "gitlab" ? ["@all"] : [...new Set([...account(author?.username), ...account(requestedBy)])]

/** Returns the body of an operation with the slot filled. Calls the host only if there is a slot. */
export const fillMentions = Effect.fnUntraced(function* (
  context: ChannelContext,
  { body, head }: { readonly body: string; readonly head: string }
): Effect.fn.Return<string, ForgeError | ChannelMissing, AuthorGuess | ModelRun> {
  if (!body.includes(mentionSlot)) return body
  const { change, channel } = context
  const author = yield* resolveAuthor(context, head)
  const mention = account(author)
  const people = mention.length === 0 && channel.mention_fallback === "all" ? everyone(change) : mention
  return tidy(body.replaceAll(mentionSlot, people.join(" ")))
})
