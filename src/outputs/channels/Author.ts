/**
 * Determines the author of a change as an account of the host. Sources in this order: the mapping of the commit's e-mail
 * address; no account for an address on the blacklist; the account that the host associates with the commit; where a model is
 * configured for it, the mapped account that it identifies as the same person; the account that pushed or opened the change.
 * The author of a revision of Subversion or a changelist of Perforce is the account of the same name.
 * Results are cached (storage.cache), because several publications name the author.
 */
import { Effect, Option, Schema } from "effect"
import type { OutputsConfig } from "../../config/schema/Outputs.ts"
import { foldRepo, hostTrigger } from "../../domain/Change.ts"
import type { Change } from "../../domain/Change.ts"
import type { CommitAuthor, ForgeClient } from "../../forge/Forge.ts"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { remembering } from "../../store/Cache.ts"
import type { About, Lookup } from "../../store/Cache.ts"
import { AuthorGuess } from "../AuthorGuess.ts"
import type { AuthorCandidate } from "../AuthorGuess.ts"
import type { ChannelMissing, ChannelContext } from "./Channel.ts"
import type { ModelRun } from "../../llm/ModelRun.ts"

type Resolution = OutputsConfig["author_resolution"]

const normalizeEmail = (email: string): string => email.trim().toLowerCase()
const plainAccount = (name: string): string => name.replace(/^@/, "")

/** Returns the account where the configuration or the host determines it; `Open` otherwise. Pure. */
export const exactAccount = (
  { email_mappings = {}, email_blacklist = [] }: Resolution,
  author: Pick<CommitAuthor, "email" | "account"> | undefined
): { readonly _tag: "Known"; readonly account: string | undefined } | { readonly _tag: "Open" } => {
  const email = author?.email
  if (email !== undefined) {
    const mapped = Object.entries(email_mappings).find(
      ([mappedEmail]) => normalizeEmail(mappedEmail) === normalizeEmail(email)
    )
    if (mapped !== undefined) return { _tag: "Known", account: plainAccount(mapped[1]) }
    if (email_blacklist.some((listed) => normalizeEmail(listed) === normalizeEmail(email)))
      return { _tag: "Known", account: undefined }
  }
  return author?.account === undefined ? { _tag: "Open" } : { _tag: "Known", account: author.account }
}

const maxCandidates = 200

/** Lists the mapped accounts with the names in their addresses, and the account that pushed. Pure. */
const listCandidates = (
  { email_mappings = {} }: Resolution,
  pusher: Change["author"]
): ReadonlyArray<AuthorCandidate> => {
  const namesByAccount = new Map<string, Array<string>>()
  for (const [email, account] of Object.entries(email_mappings)) {
    const name = email.split("@")[0]?.trim() ?? ""
    namesByAccount.set(plainAccount(account), [...(namesByAccount.get(plainAccount(account)) ?? []), name])
  }
  // Without mappings the only candidate would be the account that pushed, which is the fallback anyway.
  if (namesByAccount.size > 0 && pusher !== undefined) {
    namesByAccount.set(pusher.username, [
      ...(namesByAccount.get(pusher.username) ?? []),
      ...(pusher.name === undefined ? [] : [pusher.name])
    ])
  }
  return [...namesByAccount]
    .slice(0, maxCandidates)
    .map(([account, names]) => ({ account, known: [...new Set(names)].slice(0, 10) }))
}

const Account = Schema.Struct({ account: Schema.optionalKey(Schema.String) })
const toAccount = (account: string | undefined): typeof Account.Type => (account === undefined ? {} : { account })

/** Cached by commit and by the settings for author resolution. */
const authorOfCommit: Lookup<typeof Account.Type> = { name: "commit-author", schema: Account }
/** Cached by e-mail address, for hosts that need a request for it. */
const accountOfEmail: Lookup<typeof Account.Type> = { name: "email-account", schema: Account }

type AuthorContext = Pick<ChannelContext, "client" | "change" | "channel" | "workspace" | "cache">

/** Returns the key parts that identify the credential: data that one credential may read is not shared with another. */
const toRequester = ({ change, channel, workspace }: AuthorContext): About => [
  workspace.id,
  change.provider,
  channel.trigger ?? hostTrigger(change),
  channel.base_url,
  channel.token === undefined && channel.token_env === undefined ? undefined : channel.name
]

/**
 * Converts a refusal to undefined, so that the account that pushed or opened the change is used. A transient failure is passed
 * on, so that the operation is retried.
 */
export const undefinedIfRefused = <A>(
  request: Effect.Effect<A, ForgeError>,
  head: string
): Effect.Effect<A | undefined, ForgeError> =>
  Effect.catchIf(
    request,
    ({ reason }) => reason !== "rate_limited" && reason !== "unavailable",
    (error) =>
      Effect.as(
        Effect.logInfo("author of a commit unknown to the host", { commit: head, error: error.message }),
        undefined
      )
  )

export const resolveAuthor = Effect.fnUntraced(function* (
  context: AuthorContext,
  head: string
): Effect.fn.Return<string | undefined, ForgeError | ChannelMissing, AuthorGuess | ModelRun> {
  const { cache, change, workspace } = context
  // A revision or changelist is no commit of the channel's host, where its number could be the beginning of an id.
  if (change.provider === "perforce" || change.provider === "subversion") return change.author?.username
  const resolution = workspace.outputs.author_resolution
  const { email_mappings, email_blacklist } = resolution
  const cacheKey = [
    ...toRequester(context),
    foldRepo(change.repo.fullName),
    head,
    change.author?.username,
    change.author?.name,
    workspace.authorResolutionModelChain,
    JSON.stringify([email_mappings, email_blacklist])
  ]
  const cached = yield* cache.get(authorOfCommit, cacheKey)
  if (Option.isSome(cached)) return cached.value.account
  const store = (account: string | undefined) =>
    Effect.as(cache.set(authorOfCommit, cacheKey, toAccount(account)), account)
  const pusher = change.author?.username
  const client = yield* context.client
  const author = yield* undefinedIfRefused(client.commitAuthor(change.repo, head), head)
  if (author === undefined) return pusher
  const exact = exactAccount(resolution, author)
  if (exact._tag === "Known") return yield* store(exact.account)
  const byEmail = yield* accountByEmail(context, client, head, author)
  if (byEmail?.account !== undefined) return yield* store(byEmail.account)
  const guessed = (yield* guessAccount(context, head, author)) ?? pusher
  return byEmail === undefined ? guessed : yield* store(guessed)
})

/** Returns undefined where the host refused the request. */
const accountByEmail = Effect.fnUntraced(function* (
  context: AuthorContext,
  { findAccount }: ForgeClient,
  head: string,
  { email }: CommitAuthor
) {
  if (email === undefined || findAccount === undefined) return toAccount(undefined)
  const cacheKey = [...toRequester(context), normalizeEmail(email)]
  const request = Effect.map(findAccount(email), toAccount)
  return yield* undefinedIfRefused(remembering(context.cache, accountOfEmail, cacheKey, request), head)
})

const guessAccount = Effect.fnUntraced(function* (
  { change, workspace }: AuthorContext,
  head: string,
  { email, name }: CommitAuthor
) {
  const candidates = listCandidates(workspace.outputs.author_resolution, change.author)
  if (candidates.length === 0 || (email === undefined && name === undefined)) return undefined
  const { guess } = yield* AuthorGuess
  const commit = `${foldRepo(change.repo.fullName)}@${head}`
  const guessed = yield* guess({ workspace, commit, name, email, candidates })
  return candidates.some(({ account }) => account === guessed) ? guessed : undefined
})
