/**
 * The way to the provider of logins in a network without another one: all requests of the service pass through the proxy of its environment, and it
 * trusts the authority that `NODE_EXTRA_CA_CERTS` names.
 */
import { execFileSync } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { createServer as createTlsServer } from "node:https"
import type { AddressInfo, Server } from "node:net"
import { connect } from "node:net"
import { join } from "node:path"
import { expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { adminEnv } from "../harness/AdminSession.ts"
import { Installation } from "../harness/Installation.ts"

const host = "id.example.test"
const issuer = `https://${host}`

const listen = async (server: Server): Promise<number> => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  // Node's type of the address of a TCP server.
  return (server.address() as AddressInfo).port
}

/** A provider with a certificate of its own, which refuses every code. */
const startProvider = (directory: string, requests: Array<string>) => {
  const [key, cert] = ["provider.key", "provider.crt"].map((name) => join(directory, name))
  const options = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", `/CN=${host}`]
  const files = ["-keyout", String(key), "-out", String(cert), "-addext", `subjectAltName=DNS:${host}`]
  execFileSync("openssl", [...options, ...files], { stdio: "ignore" })
  const tls = { key: readFileSync(String(key)), cert: readFileSync(String(cert)) }
  const server = createTlsServer(tls, (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const isToken = request.url === "/token"
    const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` }
    response.writeHead(isToken ? 400 : 200, { "content-type": "application/json" })
    response.end(JSON.stringify(isToken ? { error: "invalid_grant" } : { ...metadata, jwks_uri: `${issuer}/keys` }))
  })
  return { server, cert: String(cert) }
}

/** Tunnels every request to the provider, whatever host it names. */
const startProxy = (providerPort: number, tunnels: Array<string>) =>
  createServer().on("connect", (request, socket) => {
    tunnels.push(request.url ?? "")
    const upstream = connect(providerPort, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on("error", () => socket.destroy())
    socket.on("error", () => upstream.destroy())
  })

it("a login reaches its provider through the proxy, with the certificate of an own authority", async () => {
  const [requests, tunnels]: [Array<string>, Array<string>] = [[], []]
  await using at = await Installation.make({ queue: "memory", env: adminEnv })
  const { cert, server } = startProvider(at.directory, requests)
  const proxy = startProxy(await listen(server), tunnels)
  const proxyPort = await listen(proxy)
  try {
    const file = join(at.directory, "config.yaml")
    const document = parse(readFileSync(file, "utf8"))
    document.server = { ...document.server, base_url: "https://aicr.example.test" }
    const client = { client_id: "aicr", client_secret: "a-secret-of-the-client" }
    document.admin = { ...document.admin, oidc: { issuer, ...client, roles: { viewer: ["all"] } } }
    writeFileSync(file, stringify(document))
    at.aicr.setEnv({ https_proxy: `http://127.0.0.1:${proxyPort}`, no_proxy: "", NODE_EXTRA_CA_CERTS: cert })
    await at.aicr.start()
    const call = async (path: string, body?: object) => {
      const init = { method: "POST", headers: { "content-type": "application/json" } }
      const sent = body === undefined ? init : { ...init, body: JSON.stringify(body) }
      const response = await fetch(`${at.aicr.url}/api/admin${path}`, sent)
      const json: unknown = await response.json()
      return { status: response.status, body: Object(json) }
    }
    const begun = await call("/login/oidc")
    expect(begun).toMatchObject({ status: 200 })
    const { binding, url } = begun.body
    expect(String(url).startsWith(`${issuer}/auth?`)).toBe(true)
    const response = new URLSearchParams({ code: "c", state: new URL(String(url)).searchParams.get("state") ?? "" })
    const ended = await call("/login/oidc/finish", { binding, response: String(response) })
    expect(ended).toMatchObject({ status: 401, body: { code: "login_refused" } })
    expect(new Set(requests)).toEqual(new Set(["GET /.well-known/openid-configuration", "POST /token"]))
    expect(new Set(tunnels)).toEqual(new Set([`${host}:443`]))
  } finally {
    for (const one of [server, proxy]) {
      one.closeAllConnections()
      one.close()
    }
  }
}, 60_000)
