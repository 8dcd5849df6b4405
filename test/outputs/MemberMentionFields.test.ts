/** Fields of channels that decide who is mentioned: member directories, mappings, guesses. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { MemberFiles } from "../../src/chat/members/MemberFiles.ts"
import type { Change } from "../../src/domain/Change.ts"
import type { CommitAuthor } from "../../src/forge/hosts/HostIssues.ts"
import { ModelRun } from "../../src/llm/ModelRun.ts"
import { AuthorGuess } from "../../src/outputs/AuthorGuess.ts"
import { findMemberMention } from "../../src/outputs/chat/MemberMention.ts"
import { noCache } from "../../src/store/Cache.ts"
import { run, startHost } from "../forge/Clients.ts"
import type { Host } from "../forge/Clients.ts"
import { startChatPlatform } from "../harness/ChatPlatform.ts"
import { FakeChatPlatform, platformSecrets } from "../harness/FakeChatPlatform.ts"
import { waitUntil } from "../harness/Wait.ts"
import { change, finding } from "./Fixtures.ts"
import { documentFor, only, publisher, snapshotFrom } from "./FromDocument.ts"
import { orDie } from "./Publishing.ts"

const corp = { kind: "wecom_corp", id: "ww1" }
const person = (key: string, more: object = {}) => ({
  key,
  mention: { type: "wecom_userid", id: `id-${key}` },
  ...more
})
const file = (members: ReadonlyArray<object>) =>
  JSON.stringify({ version: 1, directories: { staff: { platform: "wecom", identity_scope: corp, members } } })
const directory = { source: "file", path: "members.json", directory_id: "staff", identity_scope: corp }

describe("the person whom a channel mentions", () => {
  let host: Host
  let platform: FakeChatPlatform
  let folder: string
  let members: MemberFiles["Service"]
  const running = Scope.makeUnsafe()
  let apps = 0
  beforeAll(async () => {
    ;[host, platform] = await Promise.all([startHost("gitea"), FakeChatPlatform.start()])
    members = Context.get(Effect.runSync(Layer.buildWithScope(MemberFiles.layer, running)), MemberFiles)
  })
  afterAll(async () => {
    await Effect.runPromise(Scope.close(running, Exit.void))
    await Promise.all([host.forge.stop(), platform[Symbol.asyncDispose]()])
  })
  beforeEach(() => {
    apps += 1
    folder = mkdtempSync(join(tmpdir(), "aicr-mentions-"))
    writeFileSync(join(folder, "members.json"), file([person("ada", { emails: ["ada@example.test"] }), person("bob")]))
    return () => rmSync(folder, { recursive: true })
  })

  const contextFor = (settings: object, outputs: object, own: Partial<Change>, author: Partial<CommitAuthor>) => {
    const channels = only({ webhook_url: "https://chat.example.test/hook", ...settings })
    const connections = {
      lark: { kind: "feishu_app", app_id: `cli_${apps}`, app_secret: platformSecrets.feishu, base_url: platform.url }
    }
    const tree = { ...documentFor(host, { ...channels, ...outputs }), im: { connections } }
    const workspace = snapshotFrom(tree, {}, folder).workspaces.get("shop")
    const channel = workspace?.outputs.channels[0]
    if (workspace === undefined || channel === undefined) throw new Error("no channel")
    const commit: CommitAuthor = { name: undefined, email: undefined, account: undefined, ...author }
    const client = Effect.succeed({ ...host.client, commitAuthor: () => Effect.succeed(commit) })
    const changed = { ...change, provider: "gitea", ...own } as const
    return {
      client,
      change: changed,
      reviewed: changed,
      workspace,
      channel,
      credential: () => undefined,
      cache: noCache,
      members
    }
  }
  const mention = (
    settings: object,
    author: Partial<CommitAuthor> = {},
    { guess = AuthorGuess.of({ guess: () => Effect.undefined }), outputs = {}, own = {} as Partial<Change> } = {}
  ) =>
    findMemberMention(contextFor(settings, outputs, own, author), host.pull.head).pipe(
      Effect.map((found) => found?.id),
      Effect.provideService(AuthorGuess, guess),
      Effect.provideService(ModelRun, { id: "run", repository: "r" }),
      orDie,
      run
    )
  const wecom = { kind: "wecom_bot", member_directory: directory }
  const lark = { kind: "feishu_app", connection: "lark", receive_id: "oc_1", webhook_url: undefined }
  const ada = { email: "ada@example.test" }

  it("is in the file, directory and scope that member_directory names", async () => {
    const inFile = (more: object) => mention({ ...wecom, member_directory: { ...directory, ...more } }, ada)
    expect(await inFile({})).toBe("id-ada")
    expect(await inFile({ directory_id: "other" })).toBeUndefined()
    expect(await inFile({ path: "other.json" })).toBeUndefined()
    expect(await inFile({ identity_scope: { ...corp, id: "ww2" } })).toBeUndefined()
    const below = { path: join(folder, "members.json"), allowed_root: "/nowhere-else" }
    expect(await inFile(below)).toBeUndefined()
  })

  it("is in a file outside of the folder of the configuration only with allowed_root", async () => {
    const other = mkdtempSync(join(tmpdir(), "aicr-mentions-"))
    writeFileSync(join(other, "members.json"), file([person("ada", { emails: ["ada@example.test"] })]))
    const inOther = { ...directory, path: join(other, "members.json"), allowed_root: other }
    expect(await mention({ ...wecom, member_directory: inOther }, ada)).toBe("id-ada")
    rmSync(other, { recursive: true })
  })

  it("changes with the file: watch false waits for poll_interval_seconds", async () => {
    const watched = { ...wecom, member_directory: { ...directory, poll_interval_seconds: 299, debounce_ms: 50 } }
    const polled = {
      ...wecom,
      member_directory: { ...directory, poll_interval_seconds: 5, debounce_ms: 50, watch: false }
    }
    expect(await Promise.all([mention(watched, ada), mention(polled, ada)])).toEqual(["id-ada", "id-ada"])
    for (const key of ["eve", "zoe"]) {
      writeFileSync(join(folder, "members.json"), file([person(key, { emails: ["ada@example.test"] })]))
      await waitUntil(async () => (await mention(watched, ada)) === `id-${key}`, {
        describe: () => `the member ${key}`
      })
      expect(await mention(polled, ada)).toBe("id-ada")
    }
    await waitUntil(async () => (await mention(polled, ada)) === "id-zoe", {
      timeout: 12_000,
      describe: () => "the member after a poll"
    })
  })

  it("changes debounce_ms after the file", async () => {
    const slow = { ...wecom, member_directory: { ...directory, poll_interval_seconds: 298, debounce_ms: 1500 } }
    expect(await mention(slow, ada)).toBe("id-ada")
    writeFileSync(join(folder, "members.json"), file([person("eve", { emails: ["ada@example.test"] })]))
    const since = performance.now()
    await waitUntil(async () => (await mention(slow, ada)) === "id-eve", { describe: () => "the member eve" })
    expect(performance.now() - since).toBeGreaterThan(1000)
  })

  it("is a member of the chat chat_id, kept for cache_ttl_seconds or directory_cache_ttl_seconds", async () => {
    platform.directory.people = [{ id: "ou_1", name: "Ada" }]
    platform.directory.chats = { oc_staff: ["ou_1"] }
    const chat = (more: object) => ({ ...lark, member_directory: { chat_id: "oc_staff", ...more } })
    const kept = { author_resolution: { directory_cache_ttl_seconds: 600 } }
    const fresh = { author_resolution: { directory_cache_ttl_seconds: 0 } }
    expect(await mention(chat({}), { name: "Ada" }, { outputs: kept })).toBe("ou_1")
    expect(await mention({ ...lark, member_directory: { chat_id: "oc_other" } }, { name: "Ada" })).toBeUndefined()
    platform.directory.people = [{ id: "ou_2", name: "Ada" }]
    platform.directory.chats = { oc_staff: ["ou_2"] }
    expect(await mention(chat({}), { name: "Ada" }, { outputs: kept })).toBe("ou_1")
    expect(await mention(chat({ cache_ttl_seconds: 600 }), { name: "Ada" }, { outputs: fresh })).toBe("ou_1")
    expect(await mention(chat({}), { name: "Ada" }, { outputs: fresh })).toBe("ou_2")
  })

  it("is missing, and the review is published, when the directory cannot be read", async () => {
    platform.decide = ({ path }) => (path.endsWith("/members") ? { kind: "answer", status: 500, body: {} } : undefined)
    expect(await mention({ ...lark, member_directory: { chat_id: "oc_staff" } }, { name: "Ada" })).toBeUndefined()
    platform.decide = () => undefined
  })

  it("is the one that user_mappings or author_mappings name", async () => {
    const mapped = { ...lark, user_mappings: { "dana-login": "ou_dana", "client-7": "ou_client" } }
    expect(await mention(mapped, { account: "dana-login" })).toBe("ou_dana")
    expect(await mention(mapped, { account: "other" })).toBeUndefined()
    expect(await mention(mapped, {}, { own: { client: "client-7" } })).toBe("ou_client")
    expect(await mention({ ...wecom, author_mappings: { x: "bob" } }, { account: "x", ...ada })).toBe("id-bob")
  })

  it("is guessed unless guess_author is false", async () => {
    const own = { client: "ws-bob" }
    expect(await mention(wecom, {}, { own })).toBe("id-bob")
    expect(await mention({ ...wecom, guess_author: false }, {}, { own })).toBeUndefined()
    const guess = AuthorGuess.of({ guess: ({ candidates }) => Effect.succeed(candidates[1]?.account) })
    expect(await mention(wecom, { name: "Robert" }, { guess })).toBe("id-bob")
    expect(await mention({ ...wecom, guess_author: false }, { name: "Robert" }, { guess })).toBeUndefined()
  })

  it("is not the account of a blocked address, nor of several people", async () => {
    const blocked = { author_resolution: { email_blacklist: ["bot@example.test"] } }
    const facts = { email: "bot@example.test", account: "bob" }
    expect(await mention(wecom, facts, { own: { author: { username: "bob" } } })).toBe("id-bob")
    expect(await mention(wecom, facts, { own: { author: { username: "bob" } }, outputs: blocked })).toBeUndefined()
    writeFileSync(join(folder, "two.json"), file([person("a", { aliases: ["X"] }), person("b", { aliases: ["x"] })]))
    const two = { ...wecom, member_directory: { ...directory, path: "two.json" } }
    expect(await mention(two, { name: "X" })).toBeUndefined()
  })

  it.each([
    ["wecom_bot", "<@id-ada>", "wecom_corp"],
    ["feishu_bot", "<at id=ou_ada></at>", "feishu_app"]
  ])("is mentioned in messages of a %s", async (kind, expected, scope) => {
    const group = await startChatPlatform()
    const email = (await run(host.client.commitAuthor(host.repo, host.pull.head))).email ?? ""
    const [name] = kind.split("_")
    const type = name === "wecom" ? "wecom_userid" : "feishu_open_id"
    const id = name === "wecom" ? "id-ada" : "ou_ada"
    const identity = { kind: scope, id: "s" }
    const staff = {
      platform: name,
      identity_scope: identity,
      members: [{ key: "k", emails: [email], mention: { type, id } }]
    }
    writeFileSync(join(folder, "own.json"), JSON.stringify({ version: 1, directories: { staff } }))
    const channel = {
      kind,
      webhook_url: group.url,
      mention_author: true,
      member_directory: { ...directory, path: "own.json", identity_scope: identity }
    }
    const publish = publisher(host, documentFor(host, only(channel)), {}, folder)
    await publish([finding(1)])
    expect(group.got.join("\n")).toContain(expected)
    await group.stop()
  })
})
