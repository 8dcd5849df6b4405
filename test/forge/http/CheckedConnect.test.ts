/** Tests which servers a redirect of a host may lead to: every address of every form is checked when the connection is made. */
import { createServer } from "node:http"
import type { Server } from "node:http"
import type { LookupAddress } from "node:dns"
import { isIP } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Agent, request } from "undici"
import { mayReach, findReach } from "../../../src/forge/http/AddressReach.ts"
import { checkedConnect, RefusedAddress } from "../../../src/forge/http/CheckedConnect.ts"
import type { Resolve } from "../../../src/forge/http/CheckedConnect.ts"
import { download, nextUrl } from "../../../src/forge/http/Download.ts"

let server: Server
let port = 0
let connections = 0
/** Redirects once, then sends a file. */
let location: string | undefined
beforeAll(async () => {
  server = createServer((_, response) => {
    if (location === undefined) return void response.end("file")
    response.writeHead(302, { location }).end()
    location = undefined
  }).on("connection", () => connections++)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const address = server.address()
  port = typeof address === "object" && address !== null ? address.port : 0
})
afterAll(() => void server.close())

const resolving =
  (...answers: ReadonlyArray<ReadonlyArray<string>>): Resolve =>
  (_, _options, callback) => {
    const addresses = answers.length > 1 ? (answers as Array<ReadonlyArray<string>>).shift() : answers[0]
    callback(
      null,
      (addresses ?? []).map((address): LookupAddress => ({ address, family: isIP(address) }))
    )
  }

/** Gets a URL of another server than the host, to which there was no connection yet: it counts as public. */
const attempt = async (hostname: string, resolve: Resolve, times = 1): Promise<ReadonlyArray<unknown>> => {
  const results: Array<unknown> = []
  const agent = new Agent({ connect: checkedConnect("https://host.test", {}, resolve), pipelining: 0 })
  for (let n = 0; n < times; n++) {
    const url = `http://${hostname}:${port}/`
    const sent = request(url, { dispatcher: agent, signal: AbortSignal.timeout(2000) })
    results.push(await sent.then(({ statusCode, body }) => body.dump().then(() => statusCode)).catch((error) => error))
  }
  await agent.close()
  return results
}

describe("a server of a redirect", () => {
  it.each([
    "127.0.0.1",
    "127.1.2.3",
    "0.0.0.0",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "169.254.169.254",
    "192.0.0.192",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[::1]",
    "[fe80::1]",
    "[fec0::1]",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[fd00:ec2::254]",
    "[ff02::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[::ffff:0:a9fe:a9fe]",
    "[::127.0.0.1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::1]",
    "[2002:a9fe:a9fe::]",
    "[2002:7f00:1::]",
    "[2001:0:53aa:64c::]",
    "[2001:db8::1]",
    "2130706433",
    "0x7f.1",
    "017700000001"
  ])("is refused by the address %s", async (hostname) => {
    const before = connections
    const [result] = await attempt(hostname, resolving([]))
    expect(result).toBeInstanceOf(RefusedAddress)
    const bare = new URL(`http://${hostname}/`).hostname.replace(/^\[|\]$/g, "")
    // A name with the address as one of several.
    const results = await attempt("storage.test", resolving(["8.8.8.8", bare]))
    expect(results[0]).toBeInstanceOf(RefusedAddress)
    expect(connections).toBe(before)
  })

  it.each(["localhost", "localhost.", "x.localhost", "LOCALHOST"])("is refused by the name %s", async (name) => {
    const before = connections
    const next = nextUrl(new URL("https://host.test/a"), `https://${name}:${port}/`, new URL("https://host.test"))
    expect(next).toEqual({ _tag: "AddressRefused" })
    expect((await attempt(name, resolving(["127.0.0.1"])))[0]).toBeInstanceOf(RefusedAddress)
    expect(connections).toBe(before)
  })

  it("is resolved once for each connection, which uses what was checked", async () => {
    const asked: Array<string> = []
    const rebinding: Resolve = (name, options, callback) => {
      asked.push(name)
      resolving([asked.length === 1 ? "192.0.2.1" : "127.0.0.1"])(name, options, callback)
    }
    const before = connections
    const results = await attempt("rebinding.test", rebinding, 3)
    expect(results.every((result) => result instanceof RefusedAddress)).toBe(true)
    expect(asked).toHaveLength(3)
    expect(connections).toBe(before)
  })

  it.each([
    ["8.8.8.8", "public"],
    ["2606:4700::1", "public"],
    ["64:ff9b::808:808", "public"],
    ["::ffff:8.8.8.8", "public"],
    ["192.168.0.1", "private"],
    ["fd12::1", "private"],
    ["127.0.0.1", "machine"],
    ["::1%lo", "machine"],
    ["169.254.1.1", undefined],
    ["storage.test", undefined]
  ])("%s reaches %s", (address, reach) => expect(findReach(address)).toBe(reach))

  it("may be as near as the host, and no nearer", () => {
    expect(mayReach("public", "8.8.8.8")).toBe(true)
    expect(mayReach("public", "10.0.0.1")).toBe(false)
    expect(mayReach("private", "10.0.0.1")).toBe(true)
    expect(mayReach("private", "127.0.0.1")).toBe(false)
    expect(mayReach("machine", "127.0.0.1")).toBe(true)
    expect(mayReach("machine", "169.254.169.254")).toBe(false)
    expect(mayReach("private", "10.0.0.1", new Set(["10.0.0.1"]))).toBe(false)
  })
})

describe("a download", () => {
  const from = async (to: string, resolve: Resolve) => {
    location = to
    const url = `http://127.0.0.1:${port}/`
    const dispatcher = new Agent({ connect: checkedConnect(url, {}, resolve) })
    const sent = { url, headers: { authorization: "secret" }, dispatcher, timeout: 2000, maxBytes: 100 }
    return download(sent, new AbortController().signal).finally(() => dispatcher.close())
  }

  it("of a host on this machine may be there, and not at the metadata of a cloud by any name", async () => {
    expect(await from(`http://storage.test:${port}/x`, resolving(["127.0.0.1"]))).toMatchObject({ _tag: "Bytes" })
    expect(await from(`http://127.0.0.1:${port}/x`, resolving([]))).toMatchObject({ _tag: "Bytes" })
    const refused = { _tag: "Impossible", why: { _tag: "AddressRefused" } }
    expect(await from("http://metadata.test/x", resolving(["169.254.169.254"]))).toEqual(refused)
    expect(await from("http://[fd00:ec2::254]/x", resolving([]))).toEqual(refused)
  })

  it.each([
    ["https://host.test/a", "http://host.test/a", "https://host.test"],
    ["https://storage.test/a", "http://storage.test/b", "http://host.test"],
    ["https://host.test/a", "ftp://host.test/a", "https://host.test"]
  ])("is not requested without encryption after a redirect: %s to %s", (url, to, host) => {
    expect(nextUrl(new URL(url), to, new URL(host))).toEqual({
      _tag: "RedirectProtocol",
      protocol: expect.stringMatching(/^(?:http|ftp):$/)
    })
  })

  it("may be at the origin of the host, on a private address too", () => {
    const host = new URL("https://10.1.2.3:8443")
    expect(nextUrl(host, "/blob", host)).toEqual(new URL("https://10.1.2.3:8443/blob"))
    expect(nextUrl(host, "https://10.9.9.9/blob", host)).toEqual(new URL("https://10.9.9.9/blob"))
    expect(nextUrl(host, "https://127.0.0.1/blob", host)).toEqual({ _tag: "AddressRefused" })
    expect(nextUrl(new URL("https://8.8.8.8/"), "https://10.9.9.9/blob", new URL("https://8.8.8.8/"))).toEqual({
      _tag: "AddressRefused"
    })
  })
})
