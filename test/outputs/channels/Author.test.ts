/** The author of a commit at a host, and the number of requests to the host where responses are cached. */
import { afterEach, describe, expect, it } from "vitest"
import { Context, Effect, Layer } from "effect"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { resolveAuthor } from "../../../src/outputs/channels/Author.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { Cache, noCache } from "../../../src/store/Cache.ts"
import { layerMemory } from "../../../src/store/cache/MemoryCache.ts"
import type { ForgeKind } from "../../../src/domain/Kinds.ts"
import { fault } from "../../harness/FakeForge.ts"
import { repoName, run, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { change, channel, input, workspace } from "../Fixtures.ts"
import { orDie, makeChannelContext } from "../Publishing.ts"

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const kinds: ReadonlyArray<ForgeKind> = ["gitea", "github", "gitlab"]

let host: Host | undefined
const start = async (kind: ForgeKind): Promise<Host> => (host = await startHost(kind))
afterEach(async () => {
  host?.forge.expectContract()
  await host?.forge.stop()
  host = undefined
})

const memory = () =>
  Context.get(Effect.runSync(Effect.scoped(Layer.build(Layer.fresh(layerMemory({ ttlMillis: 60_000 }))))), Cache)

const authors = (here: Host, cache: Cache["Service"]) => {
  const setup = { forge: here.forge, kind: table.gitea_pr_review, channel: channel() }
  return (
    head: string,
    given: { readonly space?: Parameters<typeof workspace>[0]; readonly settings?: Parameters<typeof channel>[0] } = {}
  ) => {
    const made = input([], {
      change: { ...change, provider: here.forge.kind, author: { username: "pusher" } },
      workspace: workspace(given.space)
    })
    const context = { ...makeChannelContext(setup, made, here.client), channel: channel(given.settings ?? {}), cache }
    return run(orDie(resolveAuthor(context, head)))
  }
}

const newCommit = (here: Host, content: string) =>
  here.forge.push(repoName, { branch: "feature/x", message: content, files: { "more.txt": content } })

/** Reads since `from`: of commits and of accounts. */
const reads = (here: Host, from: number) => {
  const paths = here.forge.requests.slice(from).map(({ path }) => path)
  const accounts = paths.filter((path) => /\/users(\?|$)/.test(path)).length
  return { commits: paths.length - accounts, accounts }
}

const emailOf = async (here: Host): Promise<string> =>
  (await run(here.client.commitAuthor(here.repo, here.pull.head))).email ?? ""

describe.each(kinds)("the author of a commit on %s", (kind) => {
  const perEmail = kind === "gitlab" ? 1 : 0

  it("is requested once per commit, and an e-mail address once per author", async () => {
    const here = await start(kind)
    here.forge.issues(repoName).accounts.set(await emailOf(here), "olga")
    const author = authors(here, memory())
    const from = here.forge.requests.length
    for (const _ of [1, 2, 3]) expect(await author(here.pull.head)).toBe("olga")
    expect(reads(here, from)).toEqual({ commits: 1, accounts: perEmail })
    expect(await author(await newCommit(here, "2\n"))).toBe("olga")
    expect(reads(here, from)).toEqual({ commits: 2, accounts: perEmail })
  })

  it("without a cache is requested each time", async () => {
    const here = await start(kind)
    here.forge.issues(repoName).accounts.set(await emailOf(here), "olga")
    const author = authors(here, noCache)
    const from = here.forge.requests.length
    for (const _ of [1, 2]) expect(await author(here.pull.head)).toBe("olga")
    expect(reads(here, from)).toEqual({ commits: 2, accounts: 2 * perEmail })
  })

  it("is requested again under another configuration or credential, and a mapped address requests no account", async () => {
    const here = await start(kind)
    const email = await emailOf(here)
    here.forge.issues(repoName).accounts.set(email, "olga")
    const author = authors(here, memory())
    const { head } = here.pull
    expect(await author(head)).toBe("olga")
    const from = here.forge.requests.length
    expect(await author(head, { space: { author_resolution: { email_mappings: { [email]: "mapped" } } } })).toBe(
      "mapped"
    )
    expect(await author(head, { space: { author_resolution: { email_blacklist: [email] } } })).toBeUndefined()
    expect(reads(here, from)).toEqual({ commits: 2, accounts: 0 })
    expect(await author(head, { settings: { token_env: "OTHER" } })).toBe("olga")
    expect(reads(here, from)).toEqual({ commits: 3, accounts: perEmail })
  })

  it("belongs to one e-mail address: each has an account of its own", async () => {
    const here = await start(kind)
    const { head } = here.pull
    const other = await newCommit(here, "3\n")
    const emails = new Map([
      [head, "olga@corp.test"],
      [other, "dana@corp.test"]
    ])
    const client = {
      ...here.client,
      commitAuthor: (_: unknown, sha: string) =>
        Effect.succeed({ name: undefined, email: emails.get(sha), account: undefined }),
      findAccount: (email: string) => Effect.succeed(email.split("@")[0])
    }
    const author = authors({ ...here, client }, memory())
    for (const _ of [1, 2]) expect([await author(head), await author(other)]).toEqual(["olga", "dana"])
  })

  it("that the host does not name is not cached", async () => {
    const here = await start(kind)
    here.forge.issues(repoName).accounts.set(await emailOf(here), "olga")
    const author = authors(here, memory())
    here.forge.intercept(() => fault.answered(403, { message: "no" }))
    expect(await author(here.pull.head)).toBe("pusher")
    // At GitLab the commit is read and its author's account is not.
    here.forge.intercept(({ path }) => (/users/.test(path) ? fault.answered(403, { message: "no" }) : undefined))
    expect(await author(here.pull.head)).toBe(perEmail === 1 ? "pusher" : "olga")
    here.forge.intercept(() => undefined)
    expect(await author(here.pull.head)).toBe("olga")
  })
})
