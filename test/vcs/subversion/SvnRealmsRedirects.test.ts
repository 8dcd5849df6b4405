/** Tests that a server of Subversion, which may redirect at any time to any address, gets the password for no other one. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { createServer as createTcpServer } from "node:net"
import type { Server } from "node:net"
import type { IncomingMessage, ServerResponse } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { localLimits } from "../../../src/vcs/process/ProcessLimits.ts"
import { runSvn } from "../../../src/vcs/subversion/SvnProcess.ts"
import { forgetRealms, listRealms, toOrigins } from "../../../src/vcs/subversion/SvnRealms.ts"
import { openSession } from "../../../src/vcs/subversion/SvnSession.ts"
import { svnPassword, svnUser } from "../../harness/Subversion.ts"
import { expectFailure, root, serverAt } from "./Revisions.ts"

const home = mkdtempSync(join(tmpdir(), "aicr-redirects-"))
const servers: Array<Server> = []
const portOf = async (server: Server): Promise<number> => {
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** Credentials by the server that received them. */
const received: Record<"configured" | "other" | "svn", Array<string>> = { configured: [], other: [], svn: [] }
/** Requests of svn itself to the configured server. */
let requests = 0
let decide: (request: IncomingMessage, response: ServerResponse) => void = () => {}
const challenge = (response: ServerResponse) =>
  void response.writeHead(401, { "www-authenticate": 'Basic realm="tests"' }).end()
const redirect = (response: ServerResponse, status: number, location: string) =>
  void response.writeHead(status, { location }).end()

const configured = (request: IncomingMessage, response: ServerResponse): void => {
  const { authorization } = request.headers
  if (authorization !== undefined) received.configured.push(authorization)
  if (request.headers["user-agent"]?.startsWith("SVN/") === true) requests++
  decide(request, response)
}
const other = (request: IncomingMessage, response: ServerResponse): void => {
  const { authorization } = request.headers
  if (authorization === undefined) return challenge(response)
  received.other.push(authorization)
  response.writeHead(403).end()
}

const ports = { plain: 0, tls: 0, other: 0, svn: 0 }
beforeAll(async () => {
  const [key, cert] = [join(home, "key.pem"), join(home, "cert.pem")]
  const subject = "-subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -days 2".split(" ")
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject], {
    stdio: "ignore"
  })
  ports.plain = await portOf(createServer(configured))
  ports.tls = await portOf(createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, configured))
  ports.other = await portOf(createServer(other))
  ports.svn = await portOf(
    createTcpServer((socket) => {
      socket.on("error", () => socket.destroy())
      socket.write("( success ( 2 2 ( ) ( edit-pipeline svndiff1 absent-entries depth ) ) ) ")
      let hello = false
      socket.on("data", (data) => {
        received.svn.push(...(hello ? [data.toString()] : []))
        if (!hello) socket.write("( success ( ( CRAM-MD5 ) 5:tests ) ) ")
        else if (data.includes("CRAM-MD5")) socket.write("( step ( 20:<1.1.1@svn.example.t> ) ) ")
        hello = true
      })
    })
  )
})
afterEach(() => {
  for (const list of Object.values(received)) list.length = 0
  requests = 0
})
afterAll(() => {
  for (const server of servers) server.close()
  rmSync(home, { recursive: true, force: true })
})

const sent = `Basic ${Buffer.from(`${svnUser}:${svnPassword}`).toString("base64")}`
const run = (url: string, args: (url: string) => ReadonlyArray<string>) =>
  expectFailure(
    Effect.runPromise(
      Effect.gen(function* () {
        const server = {
          ...serverAt(url),
          username: svnUser,
          password: Redacted.make(svnPassword),
          tlsCaPath: join(home, "cert.pem")
        }
        const session = yield* openSession(root, server, () => localLimits)
        return yield* runSvn(session, args(url), 1e6, 20_000)
      }).pipe(Effect.scoped)
    )
  )

const commands: ReadonlyArray<readonly [string, (url: string) => ReadonlyArray<string>]> = [
  ["info", (url) => ["info", url]],
  ["list", (url) => ["list", "-R", url]],
  ["log", (url) => ["log", "-v", url]],
  ["cat", (url) => ["cat", `${url}/a.txt`]],
  ["export", (url) => ["export", url, join(home, "export")]],
  ["blame", (url) => ["blame", `${url}/a.txt`]],
  ["diff", (url) => ["diff", "--summarize", "--old", `${url}@1`, "--new", `${url}@2`]]
]

/** Replies of a server that redirects every request, only those of svn, or those of svn with the password. */
const times = {
  always: (status: number, to: string) => (_: IncomingMessage, response: ServerResponse) =>
    redirect(response, status, to),
  "svn only": (status: number, to: string) => (request: IncomingMessage, response: ServerResponse) =>
    request.headers["user-agent"]?.startsWith("SVN/") === true ? redirect(response, status, to) : challenge(response),
  "after the password": (status: number, to: string) => (request: IncomingMessage, response: ServerResponse) =>
    request.headers.authorization === undefined ? challenge(response) : redirect(response, status, to)
} as const

const targets: ReadonlyArray<readonly [string, "plain" | "tls", () => string]> = [
  ["another port", "plain", () => `http://127.0.0.1:${ports.other}/x`],
  ["another host", "plain", () => `http://localhost:${ports.other}/x`],
  ["http instead of https", "tls", () => `http://127.0.0.1:${ports.other}/x`],
  ["svn", "plain", () => `svn://127.0.0.1:${ports.svn}/x`],
  ["ssh", "plain", () => `svn+ssh://127.0.0.1/x`]
]

describe.each(commands)("svn %s", (_, args) => {
  it.each(targets)("that is redirected to %s sends the password nowhere else", async (_target, scheme, to) => {
    const url = scheme === "tls" ? `https://localhost:${ports.tls}/x` : `http://127.0.0.1:${ports.plain}/x`
    for (const [time, make] of Object.entries(times)) {
      forgetRealms(url)
      decide = make(time === "always" ? 307 : 301, to())
      const failure = await run(url, args)
      expect({
        time,
        others: [received.other, received.svn.filter((text) => text.includes(svnUser))].flat(),
        reachesSvn: requests > 0,
        isNamed: failure.includes("redirects are not followed"),
        isConfiguredTrusted: received.configured.includes(sent)
      }).toEqual({
        time,
        others: [],
        reachesSvn: time !== "always",
        isNamed: time === "always",
        isConfiguredTrusted: time === "after the password"
      })
    }
  })
})

it.each([302, 303, 307, 308])("a server that redirects every request with %s is refused by name", async (status) => {
  const url = `http://127.0.0.1:${ports.plain}/${status}`
  decide = times.always(status, `https://localhost:${ports.other}/token=secret`)
  expect(await run(url, () => ["info", url])).toBe(
    `failed: the Subversion server http://127.0.0.1:${ports.plain} redirects to https://localhost:${ports.other}; redirects are not followed, so set repository_url to the address of the repository`
  )
  expect(received.configured).toEqual([])
})

it("realms are those of a challenge, in each form in which svn may read it", () => {
  expect(listRealms(['Basic realm="a b"'])).toContain("a b")
  expect(listRealms(['Basic realm="a", charset="UTF-8"'])).toEqual(expect.arrayContaining(["a", 'a", charset="UTF-8']))
  expect(listRealms(['Digest qop="auth", realm="d", nonce="n"'])).toContain("d")
  expect(listRealms(["Basic realm=bare"])).toContain("bare")
  expect(listRealms(["Negotiate"])).toEqual([])
})

it("origins have the port that svn shows", () => {
  expect(toOrigins("https://svn.test/x")).toEqual(["<https://svn.test:443>"])
  expect(toOrigins("http://SVN.test:8080/x")).toEqual(["<http://svn.test:8080>"])
  expect(toOrigins("http://[::1]/x")).toEqual(["<http://[::1]:80>", "<http://::1:80>"])
})
