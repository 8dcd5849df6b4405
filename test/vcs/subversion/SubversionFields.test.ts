/** Fields of the configuration reach Subversion: sign-in, certificates, proxy, and further repositories. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { Effect, Logger } from "effect"
import { createServer } from "node:http"
import { toSnapshot } from "../../../src/config/LoadConfig.ts"
import { mountContext } from "../../../src/engine/read/ContextMounts.ts"
import { toTriggerServer } from "../../../src/vcs/ConfiguredServer.ts"
import { startApache, startSvnserve, SvnRepository, svnPassword, svnUser } from "../../harness/Subversion.ts"
import { checkingOut, expectFailure, readRevision, run } from "./Revisions.ts"
import { inEnglish } from "../../../src/text/en.ts"

let repository: SvnRepository
beforeAll(() => {
  repository = new SvnRepository()
  repository.commit("Two", { files: { "trunk/a.c": "one\n", "trunk/big.txt": "x".repeat(2_000_000) } })
  repository.commit("Three", { files: { "trunk/a.c": "two\n" } })
})
afterAll(() => repository[Symbol.dispose]())

const read = async (trigger: Readonly<Record<string, unknown>>, env: Readonly<Record<string, string>> = {}) => {
  const document = { triggers: [{ name: "tree", kind: "subversion", ...trigger }] }
  const snapshot = await Effect.runPromise(toSnapshot(document, env))
  const profile = snapshot.triggers.get("tree")
  const server = profile && toTriggerServer(profile, snapshot)
  if (server === undefined || "_tag" in server) throw new Error(server && inEnglish(server))
  return checkingOut({ server, branch: "trunk", head: "3", base: "2" }, readRevision)
}

it("username and password, or the variables that hold them", async () => {
  await using server = await startSvnserve(repository)
  const at = { repository_url: server.url }
  const env = { USERNAME_OF: svnUser, PASSWORD_OF: svnPassword }
  expect((await read({ ...at, username: svnUser, password: svnPassword })).changes).toHaveLength(1)
  expect((await read({ ...at, username_env: "USERNAME_OF", password_env: "PASSWORD_OF" }, env)).changes).toHaveLength(1)
  expect(await expectFailure(read({ ...at, username: svnUser }))).toContain("unauthorized")
  await expect(read({ ...at, username: svnUser, password_env: "UNSET" })).rejects.toThrow("UNSET")
})

it("tls_ca_path and trust_server_cert", async () => {
  await using server = await startApache(repository)
  const at = { repository_url: server.url, username: svnUser, password: svnPassword }
  expect((await read({ ...at, tls_ca_path: server.authority })).changes).toHaveLength(1)
  expect((await read({ ...at, trust_server_cert: true })).changes).toHaveLength(1)
  expect(await expectFailure(read({ ...at, trust_server_cert: false }))).toContain("E230001")
})

it("http_proxy gets the requests", async () => {
  const seen: Array<string | undefined> = []
  const proxy = createServer((request, response) => {
    seen.push(request.url)
    response.writeHead(502).end()
  })
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve))
  const address = proxy.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  try {
    const trigger = { repository_url: "http://svn.test/repository", http_proxy: `http://127.0.0.1:${port}` }
    expect(await expectFailure(read(trigger))).toContain("unreachable")
    expect(seen[0]).toContain("http://svn.test/repository")
  } finally {
    proxy.close()
  }
})

const mounting = (
  fields: Readonly<Record<string, unknown>>,
  more: ReadonlyArray<Readonly<Record<string, unknown>>> = []
) =>
  Effect.gen(function* () {
    const context_repositories = [{ alias: "lib", kind: "subversion", ...fields }]
    const triggers = [{ name: "tree", kind: "subversion", repository_url: repository.url }, ...more]
    const instances = { w: { source_repo: { trigger: "tree", repo: "x" }, context_repositories } }
    const snapshot = yield* toSnapshot({ triggers, workspaces: { instances } }, {})
    const workspace = snapshot.workspaces.get("w")
    if (workspace === undefined) return yield* Effect.die("no workspace")
    const { mounted, notices } = yield* mountContext(snapshot, workspace, undefined)
    const [mount] = mounted
    const limits = { maxBytes: 1000, maxNames: 10 }
    const search = { texts: ["o"], ignoreCase: false, words: false, under: "" }
    return {
      notices: notices.map(inEnglish),
      revision: mount?.commit,
      file: mount && (yield* mount.read("a.c", limits)),
      root: mount && (yield* mount.read("", limits)),
      outside: mount && (yield* mount.read("../../", limits)),
      found: mount && (yield* mount.search.filesWith(search, 5)).paths
    }
  }).pipe(Effect.scoped, Effect.provide(Logger.layer([])))

it("repository_url, revision and max_mb of a context repository", async () => {
  const url = `${repository.url}/trunk`
  expect(await run(mounting({ repository_url: url }))).toEqual({
    notices: [],
    revision: "3",
    file: { _tag: "File", text: "two\n" },
    root: { _tag: "Directory", names: ["a.c", "big.txt"], more: 0 },
    outside: { _tag: "Refused", why: "no such file or directory" },
    found: ["a.c"]
  })
  expect((await run(mounting({ repository_url: url, revision: 2 }))).file).toEqual({ _tag: "File", text: "one\n" })
  const large = await run(mounting({ repository_url: url, max_mb: 1 }))
  expect(large).toMatchObject({ revision: undefined, notices: [expect.stringContaining("larger than 1 MiB")] })
})

it("a context repository of a server that requires a login is read with the access of a trigger of that server", async () => {
  await using server = await startApache(repository)
  const url = `${server.url}/trunk`
  const about = { kind: "subversion", tls_ca_path: server.authority }
  const access = { ...about, username: svnUser, password: svnPassword, repository_url: `${server.url}/branches` }
  expect((await run(mounting({ repository_url: url }, [{ name: "other", ...access }]))).file).toEqual({
    _tag: "File",
    text: "two\n"
  })
  // Not that of a trigger of another server.
  const elsewhere = { name: "other", ...access, repository_url: "https://svn.test/repository" }
  expect(await run(mounting({ repository_url: url }, [elsewhere]))).toMatchObject({
    revision: undefined,
    notices: [expect.stringContaining("E230001")]
  })
  const wrong = { name: "other", ...access, password: "wrong" }
  expect((await run(mounting({ repository_url: url }, [wrong]))).notices).toEqual([
    expect.stringContaining("check username and password of the trigger of kind subversion with this server")
  ])
})
