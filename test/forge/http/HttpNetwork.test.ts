/** The way to the host: private certificate authorities and proxies of a trigger. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer, get } from "node:http"
import { createServer as createTlsServer } from "node:https"
import { connect } from "node:net"
import type { Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Redacted } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { TriggerProfile } from "../../../src/config/Snapshot.ts"
import { giteaClient } from "../../../src/forge/gitea/Client.ts"
import { snapshotFrom } from "../../outputs/FromDocument.ts"
import { failure, run } from "../Clients.ts"
import { triggerDefaults } from "../../harness/TriggerDefaults.ts"
import { newTraffic } from "../../harness/Owners.ts"

const portOf = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

/** Makes the certificate of the tests' own host. */
const canCertify = spawnSync("openssl", ["version"]).status === 0

describe.skipIf(!canCertify)("the way to the host", () => {
  const directory = mkdtempSync(join(tmpdir(), "aicr-tls-"))
  const key = join(directory, "key.pem")
  const cert = join(directory, "cert.pem")
  const servers: Array<Server> = []
  let plainUrl = ""
  let tlsUrl = ""
  let proxyUrl = ""
  let passed: Array<string> = []

  beforeAll(async () => {
    const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject],
      {
        stdio: "ignore"
      }
    )
    const answer: Parameters<typeof createServer>[1] = (_, response) => response.end('{"login":"aicr"}')
    const plain = createServer({}, answer)
    const tls = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, answer)
    // Plain requests come with the whole URL, others ask for a tunnel.
    const forward: Parameters<typeof createServer>[1] = (request, response) => {
      const target = new URL(request.url ?? "")
      passed.push(target.host)
      get(target, { headers: request.headers }, (answered) => answered.pipe(response))
    }
    const proxy = createServer({}, forward).on("connect", (request, socket) => {
      passed.push(request.url ?? "")
      const [host, port] = (request.url ?? "").split(":")
      const upstream = connect(Number(port), host, () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
        upstream.pipe(socket).pipe(upstream)
      })
      upstream.on("error", () => socket.destroy())
      socket.on("error", () => upstream.destroy())
    })
    servers.push(plain, tls, proxy)
    plainUrl = `http://127.0.0.1:${await portOf(plain)}`
    tlsUrl = `https://127.0.0.1:${await portOf(tls)}`
    proxyUrl = `http://127.0.0.1:${await portOf(proxy)}`
  })
  afterAll(() => {
    for (const server of servers) server.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const self = (apiUrl: string, settings: Partial<TriggerProfile["settings"]> = {}) => {
    const base = { name: "host", kind: "gitea", ...triggerDefaults } as const
    return giteaClient("gitea", { rangesFrom: undefined, extendsReviews: false, hasActions: true })(
      {
        ...base,
        webhookSecret: undefined,
        token: Redacted.make("t0ken"),
        baseUrl: apiUrl,
        apiUrl,
        settings: { ...base, ...settings }
      },
      newTraffic()
    ).self
  }

  it("trusts the authorities of tls_ca_path and no others", async () => {
    expect((await failure(self(tlsUrl))).message).toMatch(/self.signed/i)
    expect(await run(self(tlsUrl, { tls_ca_path: cert }))).toEqual({ username: "aicr" })
    const missing = await failure(self(tlsUrl, { tls_ca_path: join(directory, "none.pem") }))
    expect(missing.message).toContain("none.pem cannot be read")
  })

  it("trusts the authorities that a trigger of the document names", async () => {
    const trigger = { name: "host", kind: "gitea", webhook_secret: "s", token: "t0ken", base_url: tlsUrl }
    const profile = snapshotFrom({ triggers: [{ ...trigger, tls_ca_path: cert }] }).triggers.get("host")
    if (profile === undefined) throw new Error("no trigger")
    expect(
      await run(
        giteaClient("gitea", { rangesFrom: undefined, extendsReviews: false, hasActions: true })(profile, newTraffic())
          .self
      )
    ).toEqual({
      username: "aicr"
    })
  })

  it("goes through http_proxy, with TLS inside too", async () => {
    passed = []
    expect(await run(self(plainUrl, { http_proxy: proxyUrl }))).toEqual({ username: "aicr" })
    expect(await run(self(tlsUrl, { http_proxy: proxyUrl, tls_ca_path: cert }))).toEqual({ username: "aicr" })
    expect(passed).toEqual([new URL(plainUrl).host, new URL(tlsUrl).host])
  })

  it("does not send requests for this machine to a proxy of the environment", async () => {
    passed = []
    const before = process.env["HTTP_PROXY"]
    process.env["HTTP_PROXY"] = proxyUrl
    try {
      expect(await run(self(plainUrl))).toEqual({ username: "aicr" })
    } finally {
      if (before === undefined) delete process.env["HTTP_PROXY"]
      else process.env["HTTP_PROXY"] = before
    }
    expect(passed).toEqual([])
  })
})
