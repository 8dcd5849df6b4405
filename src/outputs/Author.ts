/**
 * Whose change it is, as an account of the host. In this order: the mapping of the commit's e-mail address; for an address on the
 * blacklist nobody; the account that the host finds for the commit; where a model is configured for it, the mapped account it finds to
 * be the same person; who pushed or opened the change. What is found is kept for a while (storage.cache): each row that names
 * the author would ask again.
 */
import { Effect, Option, Schema } from "effect"
import type { OutputsConfig } from "../config/schema/Outputs.ts"
import { foldRepo, hostTrigger } from "../domain/Change.ts"
import type { Change } from "../domain/Change.ts"
import type { CommitAuthor, ForgeClient, ForgeError } from "../forge/Forge.ts"
import { remembering } from "../store/Cache.ts"
import type { About, Lookup } from "../store/Cache.ts"
import { AuthorGuess } from "./AuthorGuess.ts"
import type { AuthorCandidate } from "./AuthorGuess.ts"
import type { ChannelMissing, Reach } from "./Channel.ts"
import type { ModelRun } from "../llm/ModelRun.ts"

type Resolution = OutputsConfig["author_resolution"]

const folded = (email: string): string => email.trim().toLowerCase()
const plainAccount = (name: string): string => name.replace(/^@/, "")

/** What is exact. `Open`: nothing says it. Pure. */
export const exactAccount = (
  { email_mappings = {}, email_blacklist = [] }: Resolution,
  author: Pick<CommitAuthor, "email" | "account"> | undefined
): { readonly _tag: "Known"; readonly account: string | undefined } | { readonly _tag: "Open" } => {
  const email = author?.email
  if (email !== undefined) {
    const mapped = Object.entries(email_mappings).find(([known]) => folded(known) === folded(email))
    if (mapped !== undefined) return { _tag: "Known", account: plainAccount(mapped[1]) }
    if (email_blacklist.some((listed) => folded(listed) === folded(email))) return { _tag: "Known", account: undefined }
  }
  return author?.account === undefined ? { _tag: "Open" } : { _tag: "Known", account: author.account }
}

const most = 200

/** Mapped accounts with the names in their addresses, and who pushed. Pure. */
const candidatesOf = (
  { email_mappings = {} }: Resolution,
  pusher: Change["author"]
): ReadonlyArray<AuthorCandidate> => {
  const known = new Map<string, Array<string>>()
  for (const [email, account] of Object.entries(email_mappings)) {
    const name = email.split("@")[0]?.trim() ?? ""
    known.set(plainAccount(account), [...(known.get(plainAccount(account)) ?? []), name])
  }
  // Without mappings there is only who pushed, which is the answer anyway.
  if (known.size > 0 && pusher !== undefined) {
    known.set(pusher.username, [
      ...(known.get(pusher.username) ?? []),
      ...(pusher.name === undefined ? [] : [pusher.name])
    ])
  }
  return [...known].slice(0, most).map(([account, names]) => ({ account, known: [...new Set(names)].slice(0, 10) }))
}

const Account = Schema.Struct({ account: Schema.optionalKey(Schema.String) })
const kept = (account: string | undefined): typeof Account.Type => (account === undefined ? {} : { account })

/** By commit, for one configuration of how authors are found. */
const authorOfCommit: Lookup<typeof Account.Type> = { name: "commit-author", answer: Account }
/** By e-mail address, at hosts that have to be asked for it. */
const accountOfEmail: Lookup<typeof Account.Type> = { name: "email-account", answer: Account }

type Asking = Pick<Reach, "client" | "change" | "channel" | "workspace" | "cache">

/** Whom the host is asked as: what one credential may see is not told to another. */
const askedAs = ({ change, channel, workspace }: Asking): About => [
  workspace.id,
  change.provider,
  channel.trigger ?? hostTrigger(change),
  channel.base_url,
  channel.token === undefined && channel.token_env === undefined ? undefined : channel.name
]

/** A host that will not say leaves who pushed or opened the change; one that cannot say now is asked again with the operation. */
const orUnsaid = <A>(asked: Effect.Effect<A, ForgeError>, head: string): Effect.Effect<A | undefined, ForgeError> =>
  Effect.catchIf(
    asked,
    ({ reason }) => reason !== "rate_limited" && reason !== "unavailable",
    (error) =>
      Effect.as(
        Effect.logInfo("author of a commit unknown to the host", { commit: head, error: error.message }),
        undefined
      )
  )

export const resolveAuthor = Effect.fnUntraced(function* (
  reach: Asking,
  head: string
): Effect.fn.Return<string | undefined, ForgeError | ChannelMissing, AuthorGuess | ModelRun> {
  const { cache, change, workspace } = reach
  const resolution = workspace.outputs.author_resolution
  const { email_mappings, email_blacklist } = resolution
  const about = [
    ...askedAs(reach),
    foldRepo(change.repo.fullName),
    head,
    change.author?.username,
    change.author?.name,
    workspace.authorResolutionModelChain,
    JSON.stringify([email_mappings, email_blacklist])
  ]
  const known = yield* cache.get(authorOfCommit, about)
  if (Option.isSome(known)) return known.value.account
  const keeping = (account: string | undefined) => Effect.as(cache.set(authorOfCommit, about, kept(account)), account)
  const pusher = change.author?.username
  const client = yield* reach.client
  const author = yield* orUnsaid(client.commitAuthor(change.repo, head), head)
  if (author === undefined) return pusher
  const found = exactAccount(resolution, author)
  if (found._tag === "Known") return yield* keeping(found.account)
  const byEmail = yield* accountByEmail(reach, client, head, author)
  if (byEmail?.account !== undefined) return yield* keeping(byEmail.account)
  const guessed = (yield* guessedAccount(reach, head, author)) ?? pusher
  return byEmail === undefined ? guessed : yield* keeping(guessed)
})

/** Undefined where the host would not say. */
const accountByEmail = Effect.fnUntraced(function* (
  reach: Asking,
  { findAccount: accountOf }: ForgeClient,
  head: string,
  { email }: CommitAuthor
) {
  if (email === undefined || accountOf === undefined) return kept(undefined)
  const about = [...askedAs(reach), folded(email)]
  const asked = Effect.map(accountOf(email), kept)
  return yield* orUnsaid(remembering(reach.cache, accountOfEmail, about, asked), head)
})

const guessedAccount = Effect.fnUntraced(function* (
  { change, workspace }: Asking,
  head: string,
  { email, name }: CommitAuthor
) {
  const candidates = candidatesOf(workspace.outputs.author_resolution, change.author)
  if (candidates.length === 0 || (email === undefined && name === undefined)) return undefined
  const { guess } = yield* AuthorGuess
  const commit = `${foldRepo(change.repo.fullName)}@${head}`
  const guessed = yield* guess({ workspace, commit, name, email, candidates })
  return candidates.some(({ account }) => account === guessed) ? guessed : undefined
})
