/**
 * Finds the person of the chat platform to mention in a publication: the author of the head commit, otherwise the person who pushed or opened
 * the change, in the member directory that the channel names. If several people match, none is mentioned.
 */
import { Duration, Effect } from "effect"
import { Directories } from "../../chat/members/Directories.ts"
import { appOfChannel } from "../../chat/members/DirectoryApps.ts"
import { matchAccount, matchMember } from "../../chat/members/MatchMember.ts"
import type { AuthorFacts, MatchRules } from "../../chat/members/MatchMember.ts"
import type { ChatMember, MemberMention } from "../../chat/members/Member.ts"
import type { Channel } from "../../config/schema/Outputs.ts"
import { foldRepo, hostTrigger } from "../../domain/Change.ts"
import { isForgeKind } from "../../domain/Kinds.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"
import { undefinedIfRefused } from "../channels/Author.ts"
import { AuthorGuess } from "../AuthorGuess.ts"
import type { ChannelContext, ChannelMissing } from "../channels/Channel.ts"

export type { MemberMention }

/** Returns whether the channel has members, so that accounts of the host are never taken for ids of the platform. */
export const hasMembers = (channel: Channel): boolean =>
  channel.member_directory !== undefined || channel.user_mappings !== undefined

const maxCandidates = 200

/** Members of `user_mappings`, whose keys are identifiers of authors and whose values are ids. */
const mappedMembers = ({ kind, user_mappings: mappings = {} }: Channel): ReadonlyArray<ChatMember> =>
  [...new Set(Object.values(mappings))].map((id) => ({
    key: id,
    names: [],
    emails: [],
    accounts: [],
    mention: { type: kind === "slack_app" ? "slack_user" : "feishu_open_id", id }
  }))

const listMembers = Effect.fnUntraced(function* ({ channel, members, workspace }: ChannelContext) {
  const own = mappedMembers(channel)
  const directory = channel.member_directory
  if (directory === undefined) return own
  const snapshot = workspace.snapshot()
  if (directory.source === "file")
    return [...own, ...((yield* members.get(snapshot.baseDir, directory))?.members ?? [])]
  const app = appOfChannel(snapshot, channel)
  if (app === undefined || directory.chat_id === undefined) return own
  const seconds = directory.cache_ttl_seconds ?? workspace.outputs.author_resolution.directory_cache_ttl_seconds
  const ttl = Duration.toMillis(Duration.seconds(seconds))
  // A review is published without a mention rather than not at all.
  const listed = yield* Effect.orElseSucceed((yield* Directories).listChat(app, directory.chat_id, ttl), () => [])
  return [...own, ...listed]
})

/** Returns the members of the channel with an id of its platform: an id of another one is not a person of this one. */
const listOwnMembers = (context: ChannelContext) =>
  Effect.map(listMembers(context), (members) => {
    const platform = `${context.channel.kind.split("_")[0]}_`
    return members.filter(({ mention }) => mention.type.startsWith(platform))
  })

const mappingsOf = ({ author_mappings, user_mappings }: Channel) => ({ ...user_mappings, ...author_mappings })

/**
 * Returns the member whose account opened or pushed the change, where the configuration or the directory names this account. Undefined if
 * there is none, or several: what a commit claims about its author is not enough for a message that only its author may read.
 */
export const findAuthorMember = Effect.fnUntraced(function* (context: ChannelContext) {
  const { change, channel } = context
  if (change.author === undefined) return undefined
  const account = {
    accounts: [change.author.username],
    provider: change.provider,
    trigger: hostTrigger(change)
  }
  const match = matchAccount(account, yield* listOwnMembers(context), { mappings: mappingsOf(channel) })
  return match._tag === "One" ? match.member.mention : undefined
})

/** Returns the author of the head and the person who pushed or opened it, in the order of precedence. */
const listAuthors = Effect.fnUntraced(function* (
  { change, client, workspace }: ChannelContext,
  head: string
): Effect.fn.Return<ReadonlyArray<AuthorFacts>, ForgeError | ChannelMissing> {
  const common = { provider: change.provider, trigger: hostTrigger(change), client: change.client }
  const pusher: AuthorFacts = {
    ...common,
    accounts: change.author === undefined ? [] : [change.author.username],
    names: change.author?.name === undefined ? [] : [change.author.name],
    email: undefined
  }
  if (!isForgeKind(change.provider)) return [pusher]
  const commit = yield* undefinedIfRefused((yield* client).commitAuthor(change.repo, head), head)
  if (commit === undefined) return [pusher]
  const { email_blacklist: blacklist = [] } = workspace.outputs.author_resolution
  const isBlocked = blacklist.some((one) => one.trim().toLowerCase() === commit.email?.trim().toLowerCase())
  const author: AuthorFacts = {
    ...common,
    accounts: commit.account === undefined || isBlocked ? [] : [commit.account],
    names: commit.name === undefined ? [] : [commit.name],
    email: commit.email
  }
  return isBlocked ? [author] : [author, pusher]
})

const guessMember = Effect.fnUntraced(function* (
  { change, workspace }: ChannelContext,
  head: string,
  { email, names: [name] }: AuthorFacts,
  members: ReadonlyArray<ChatMember>
) {
  if (members.length === 0 || members.length > maxCandidates || (name === undefined && email === undefined))
    return undefined
  const { guess } = yield* AuthorGuess
  const candidates = members.map(({ key, names }) => ({ account: key, known: names.slice(0, 10) }))
  const key = yield* guess({ workspace, commit: `${foldRepo(change.repo.fullName)}@${head}`, name, email, candidates })
  return members.find((member) => member.key === key)
})

export const findMemberMention = Effect.fnUntraced(function* (
  context: ChannelContext,
  head: string
): Effect.fn.Return<MemberMention | undefined, ForgeError | ChannelMissing, AuthorGuess | ModelRun> {
  const { channel } = context
  const members = yield* listOwnMembers(context)
  if (members.length === 0) return undefined
  const guesses = channel.guess_author ?? true
  const rules: MatchRules = { mappings: mappingsOf(channel), guesses }
  const authors = yield* listAuthors(context, head)
  for (const author of authors) {
    const match = matchMember(author, members, rules)
    if (match._tag === "One") return match.member.mention
    if (match._tag === "Several") {
      yield* Effect.logInfo("author not mentioned, several members match", {
        channel: channel.name,
        members: match.count
      })
      return undefined
    }
  }
  const [first] = authors
  const guessed = guesses && first !== undefined ? yield* guessMember(context, head, first, members) : undefined
  return guessed?.mention
})
