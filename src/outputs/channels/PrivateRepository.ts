/** Refuses to write findings that only maintainers get to a repository that others may read. */
import { Effect } from "effect"
import type { Operation } from "../../domain/Publication.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import type { ChannelContext } from "./Channel.ts"

interface Host extends Pick<ChannelContext, "change"> {
  readonly channel: Pick<ChannelContext["channel"], "name">
  readonly client: Effect.Effect<
    Pick<Effect.Success<ChannelContext["client"]>, "conversations">,
    Effect.Error<ChannelContext["client"]>
  >
}

/** Fails unless only people with access may read the repository, by its host. Messages to chats need no such check. */
export const checkPrivateRepository = Effect.fnUntraced(function* (
  { channel, change, client }: Host,
  { _tag }: Operation
) {
  if (_tag !== "Issues" && _tag !== "Issue") return
  const { conversations } = yield* client
  if ((yield* conversations.isPrivate(change.repo)) === true) return
  const why = { _tag: "RepositoryNotPrivate", channel: channel.name, repository: change.repo.fullName } as const
  return yield* new ForgeError({ reason: "invalid", operation: "repository", why })
})
