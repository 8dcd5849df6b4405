/**
 * Keeps what directories of chat platforms returned: per application and scope, so that scopes of different applications never merge. One
 * request for a listing is in flight at a time. A listing that fails is repeated after a while, and until then no one is in its scope.
 */
import { Clock, Context, Duration, Effect, Semaphore } from "effect"
import type { Redacted } from "effect"
import type { ForgeError } from "../../forge/ForgeError.ts"
import { requestFailed } from "../../forge/ForgeError.ts"
import { ChatApps, identityKey } from "../ChatApps.ts"
import type { FeishuApp, SlackToken, WecomApp } from "../ChatApps.ts"
import { makeFeishuDirectory } from "../feishu/Directory.ts"
import { makeSlackDirectory } from "../slack/Directory.ts"
import { makeWecomDirectory } from "../wecom/Directory.ts"
import type { DirectoryReader } from "./DirectoryReader.ts"
import type { ChatMember } from "./Member.ts"
import type { MemberScope } from "./Scope.ts"
import { scopeKey } from "./Scope.ts"

export type DirectoryApp =
  | ({ readonly platform: "feishu" } & FeishuApp)
  | ({ readonly platform: "slack" } & SlackToken)
  | ({ readonly platform: "wecom" } & WecomApp)

const retryMillis = 30_000
const timeout = Duration.seconds(30)
const maxListings = 2000

interface Listing {
  readonly one: Semaphore.Semaphore
  kept: { readonly value: unknown; readonly at: number } | undefined
  failed: { readonly error: ForgeError; readonly at: number } | undefined
}

const tooSlow = requestFailed("unavailable", "member directory", {
  _tag: "DirectoryIncomplete",
  seconds: Duration.toSeconds(timeout)
})

const appKey = (app: DirectoryApp): string => {
  if (app.platform === "slack") return identityKey([app.platform, app.baseUrl], app.token)
  const secret: Redacted.Redacted = app.secret
  return app.platform === "feishu"
    ? identityKey([app.platform, app.baseUrl, app.appId], secret)
    : identityKey([app.platform, app.baseUrl, app.corpId, app.agentId], secret)
}

const makeDirectories = () => {
  const listings = new Map<string, Listing>()

  const listingOf = (key: string): Listing => {
    const known = listings.get(key)
    if (known !== undefined) return known
    if (listings.size >= maxListings) listings.clear()
    const made: Listing = { one: Semaphore.makeUnsafe(1), kept: undefined, failed: undefined }
    listings.set(key, made)
    return made
  }

  /** The type of the value follows from the key. */
  const remember = <A>(key: string, maxAgeMillis: number, load: Effect.Effect<A, ForgeError>) => {
    const listing = listingOf(key)
    return listing.one.withPermits(1)(
      Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        if (listing.kept !== undefined && now - listing.kept.at < maxAgeMillis) return listing.kept.value as A
        if (listing.failed !== undefined && now - listing.failed.at < retryMillis) return yield* listing.failed.error
        const value = yield* load.pipe(
          Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(tooSlow) }),
          Effect.tapError((error) =>
            Effect.andThen(
              Effect.logWarning("member directory not read, its scopes match no one", { error: error.message }),
              // From the end of the attempt: those who wait for it fail with it, instead of one after the other.
              Effect.map(Clock.currentTimeMillis, (at) => {
                listing.failed = { error, at }
                listing.kept = undefined
              })
            )
          )
        )
        listing.kept = { value, at: now }
        listing.failed = undefined
        return value
      })
    )
  }

  const readerOf = Effect.fnUntraced(function* (app: DirectoryApp) {
    const apps = yield* ChatApps
    if (app.platform === "slack") return makeSlackDirectory(apps.slack(app))
    const reader: DirectoryReader =
      app.platform === "feishu" ? makeFeishuDirectory(apps.feishu(app)) : makeWecomDirectory(apps.wecom(app))
    return reader
  })

  return {
    /** Returns the ids of the people of a scope, at most this old. */
    listScope: Effect.fnUntraced(function* (app: DirectoryApp, scope: MemberScope, maxAgeMillis: number) {
      const reader = yield* readerOf(app)
      const key = `${appKey(app)} ${scopeKey(scope)}`
      return yield* remember<ReadonlySet<string>>(key, maxAgeMillis, reader.listScope(scope))
    }),
    /** Returns the members of a chat, at most this old. */
    listChat: Effect.fnUntraced(function* (app: DirectoryApp, chat: string, maxAgeMillis: number) {
      const reader = yield* readerOf(app)
      const key = `${appKey(app)} members ${chat}`
      return yield* remember<ReadonlyArray<ChatMember>>(key, maxAgeMillis, reader.listChat(chat))
    }),
    /** Forgets the listings of an application, because the platform reported a change. */
    forget: (app: DirectoryApp): void => {
      const prefix = `${appKey(app)} `
      for (const key of listings.keys()) if (key.startsWith(prefix)) listings.delete(key)
    }
  }
}

/** One per process. */
export const Directories = Context.Reference<ReturnType<typeof makeDirectories>>("aicr/chat/Directories", {
  defaultValue: makeDirectories
})
