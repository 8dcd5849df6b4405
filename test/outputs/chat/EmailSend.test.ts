/** E-mail over real SMTP: what arrives, with TLS and a login, and what becomes of a message that a server refuses or loses. */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { SMTPServer } from "smtp-server"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { forgeTable } from "../../../src/forge/hosts/ForgeTable.ts"
import { channelTable } from "../../../src/outputs/channels/Channels.ts"
import { parseMailServer, toMailError } from "../../../src/outputs/chat/EmailSend.ts"
import { startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { channel, finding, input, renderError } from "../Fixtures.ts"
import { documentFor, only, publisher } from "../FromDocument.ts"
import { publishAll } from "../Publishing.ts"

interface Received {
  readonly user: string | undefined
  readonly secure: boolean
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly raw: string
}

/** Response to a step: a code, or `cut` for a lost connection; undefined for acceptance. */
type MailResponse = number | "cut" | undefined

const withCode = (code: number): Error => Object.assign(new Error("refused for a test"), { responseCode: code })

const startMailServer = async (
  options: { readonly key?: string; readonly cert?: string; readonly hasTls?: boolean } = {},
  answers: { rcpt?: (address: string) => MailResponse; data?: () => MailResponse; login?: () => MailResponse } = {}
) => {
  const got: Array<Received> = []
  const logins: Array<string> = []
  const { hasTls = false, ...certificate } = options
  const server = new SMTPServer({
    ...certificate,
    logger: false,
    authOptional: true,
    allowInsecureAuth: true,
    disabledCommands: hasTls ? [] : ["STARTTLS"],
    onAuth: ({ password, username }, _, done) => {
      logins.push(`${username}:${password}`)
      const answer = answers.login?.()
      if (typeof answer === "number") done(withCode(answer))
      else done(null, { user: username })
    },
    onRcptTo: ({ address }, _, done) => {
      const answer = answers.rcpt?.(address)
      done(typeof answer === "number" ? withCode(answer) : null)
    },
    onData: (stream, session, done) => {
      const chunks: Array<Buffer> = []
      stream.on("data", (chunk: Buffer) => chunks.push(chunk))
      stream.on("end", () => {
        const answer = answers.data?.()
        if (typeof answer === "number") return done(withCode(answer))
        const { mailFrom, rcptTo } = session.envelope
        got.push({
          user: typeof session.user === "string" ? session.user : undefined,
          secure: session.secure,
          from: mailFrom === false || mailFrom === null || mailFrom === undefined ? "" : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString("utf8")
        })
        // The message is accepted, and the response is lost.
        if (answer === "cut") for (const connection of server.connections) connection._socket.destroy()
        else done(null)
      })
    }
  })
  server.on("error", () => undefined)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return {
    got,
    logins,
    url: `smtp://aicr:s%40cret@127.0.0.1:${port}`,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve()))
  }
}

/** Decodes the body, which has one part. */
const readBody = (raw: string): string => {
  const at = raw.indexOf("\r\n\r\n")
  const [head, body] = [raw.slice(0, at), raw.slice(at + 4)]
  const bytes = /transfer-encoding: base64/i.test(head)
    ? Buffer.from(body, "base64")
    : Buffer.from(
        body
          .replace(/=\r\n/g, "")
          .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
        "latin1"
      )
  return bytes.toString("utf8").replaceAll("\r\n", "\n")
}

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const [from, to] = ["aicr@example.com", ["team@example.com", "lead@example.com"]]

describe("e-mail", () => {
  let host: Host
  const servers: Array<Awaited<ReturnType<typeof startMailServer>>> = []
  const start = async (...given: Parameters<typeof startMailServer>) => {
    const server = await startMailServer(...given)
    servers.push(server)
    return server
  }
  beforeAll(async () => void (host = await startHost("gitea")))
  afterAll(() => host.forge.stop())
  afterEach(() => Promise.all(servers.splice(0).map(({ stop }) => stop())))

  const setup = (url: string, settings: Parameters<typeof channel>[0] = {}) => ({
    forge: host.forge,
    kind: table.email,
    channel: channel({ name: "mail", kind: "email", from, to, smtp_plaintext: true, ...settings }),
    credentials: { smtp_url: url }
  })
  const at = (findings = [finding(1), finding(2, { severity: "high" })]) => input(findings, { head: host.pull.head })

  const mail = { kind: "email", from, to, smtp_plaintext: true }
  it.each([
    ["smtp_url", (url: string) => ({ ...mail, smtp_url: url }), from, to],
    ["smtp_url_env", () => ({ ...mail, smtp_url_env: "MAIL" }), from, to],
    ["from", () => ({ ...mail, smtp_url_env: "MAIL", from: "other@example.com" }), "other@example.com", to],
    ["to", () => ({ ...mail, smtp_url_env: "MAIL", to: ["one@example.com"] }), from, ["one@example.com"]]
  ] as const)("field %s", async (_, settings, sender, recipients) => {
    const server = await start()
    await publisher(host, documentFor(host, only(settings(server.url))), { MAIL: server.url })([finding(1)])
    expect(server.got).toMatchObject([{ from: sender, to: recipients, user: "aicr" }])
    expect(server.logins).toEqual(["aicr:s@cret"])
  })

  it("field smtp_plaintext", async () => {
    const server = await start()
    const publish = (settings: object) =>
      publisher(
        host,
        documentFor(host, only({ kind: "email", from, to, smtp_url: server.url, ...settings }))
      )([finding(1)])
    await expect(publish({})).rejects.toThrow("the mail server offers no valid TLS")
    expect([server.got, server.logins]).toEqual([[], []])
    await publish({ smtp_plaintext: true })
    expect(server.got).toHaveLength(1)
  })

  it("sends plain text, in which only addresses of the service and the host are linked", async () => {
    const server = await start()
    const message = "See https://evil.test and [x](https://evil.test).\n\n```ts\nfetch('https://evil.test') // <b>\n```"
    await publishAll(setup(server.url), { ...at([finding(1, { message })]), runUrl: "https://aicr.test/runs/1" })
    const [mailed] = server.got
    expect(mailed?.raw).toMatch(/^Subject: =\?UTF-8\?Q\?Code_review_=C2=B7_team\/shop\?=\r$/m)
    expect(mailed?.raw).toMatch(/^Message-ID: <[0-9a-f]{32}@example\.com>\r$/im)
    expect(mailed?.raw).toMatch(/^Auto-Submitted: auto-generated\r$/m)
    expect(mailed?.raw).toMatch(/^Content-Type: text\/plain/m)
    const text = readBody(mailed?.raw ?? "")
    expect(text).toContain("1 problem found")
    expect(text).toContain("(https://aicr.test/runs/1)")
    expect(text).not.toContain("**")
    expect(text.match(/https?:\/\/[\w.]+/g)).toEqual(expect.not.arrayContaining(["https://evil.test"]))
    expect(text.match(/evil\.test/g)).toHaveLength(3)
  })

  it("gives the same message the same id", async () => {
    const server = await start()
    await publishAll(setup(server.url), at())
    await publishAll(setup(server.url), at())
    const ids = server.got.map(({ raw }) => /^Message-ID: (.*)\r$/im.exec(raw)?.[1])
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
  })

  it.each([
    ["a deferred message is sent later", { data: [451] }, 1, "sent", undefined],
    [
      "a refused message is final",
      { data: [554] },
      0,
      "failed",
      "the mail server refused the message with code 554; check from and to of the channel"
    ],
    ["a deferred recipient is tried again", { rcpt: [450, 450] }, 1, "sent", undefined],
    [
      "a refused login is final",
      { login: [535] },
      0,
      "failed",
      "the mail server refuses the login; check smtp_url of the channel"
    ],
    ["a lost response counts as sent", { data: ["cut"] }, 1, "sent", undefined]
  ] as const)(
    "%s",
    async (
      _,
      answers: {
        data?: ReadonlyArray<MailResponse>
        rcpt?: ReadonlyArray<MailResponse>
        login?: ReadonlyArray<MailResponse>
      },
      count,
      status,
      error
    ) => {
      const [data, rcpt, login] = [[...(answers.data ?? [])], [...(answers.rcpt ?? [])], [...(answers.login ?? [])]]
      const server = await start({}, { data: () => data.shift(), rcpt: () => rcpt.shift(), login: () => login.shift() })
      const [row] = await publishAll(setup(server.url), at())
      expect([server.got.length, row?.status, renderError(row)]).toEqual([count, status, error])
      expect(JSON.stringify(row)).not.toMatch(/s@cret|s%40cret/)
    }
  )

  it("reaches the other recipients when one is refused", async () => {
    const server = await start({}, { rcpt: (address) => (address === "lead@example.com" ? 550 : undefined) })
    const [row] = await publishAll(setup(server.url), at())
    expect([row?.status, server.got.map((one) => one.to)]).toEqual(["sent", [["team@example.com"]]])
  })

  const canCertify = spawnSync("openssl", ["version"]).status === 0
  it.skipIf(!canCertify)("upgrades the connection before the login, and trusts known authorities only", async () => {
    const directory = mkdtempSync(join(tmpdir(), "aicr-mail-"))
    const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")]
    const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject]
    execFileSync("openssl", made, { stdio: "ignore" })
    const own = readFileSync(cert, "utf8")
    const server = await start({ key: readFileSync(key, "utf8"), cert: own, hasTls: true })
    rmSync(directory, { recursive: true, force: true })
    const settings = only({ kind: "email", from, to, smtp_url: server.url })
    const publish = publisher(host, documentFor(host, settings))
    await expect(publish([finding(1)])).rejects.toThrow("could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT)")
    expect([server.got, server.logins]).toEqual([[], []])
    const authorities = getCACertificates()
    setDefaultCACertificates([...authorities, own])
    try {
      await publish([finding(1)])
    } finally {
      setDefaultCACertificates(authorities)
    }
    expect(server.got).toMatchObject([{ secure: true, user: "aicr" }])
  })
})

it.each([
  ["smtp://mail.example", { host: "mail.example", port: 587, secure: false, login: undefined }],
  ["smtps://a%40b:c%3Ad@mail.example", { port: 465, secure: true, login: { user: "a@b", pass: "c:d" } }],
  ["smtp://u:p@[::1]:25/", { host: "::1", port: 25 }]
])("%s as a mail server", (url, expected) => {
  expect(parseMailServer(url)).toMatchObject(expected)
})

it.each([
  "https://mail.example",
  "smtp://mail.example?pool=true&proxy=http://x",
  "smtp://%zz@mail.example",
  "smtp://",
  "mail.example:25"
])("%s is not a mail server", (url) => {
  expect(parseMailServer(url)).toBeUndefined()
})

it.each([
  ["open", "ECONNREFUSED", undefined, "unavailable"],
  ["open", "EDNS", undefined, "unavailable"],
  ["open", "ETLS", 454, "invalid"],
  ["open", "EAUTH", 535, "invalid"],
  ["open", "EAUTH", 454, "rate_limited"],
  ["open", "EAUTH", undefined, "invalid"],
  ["open", "EPROTOCOL", 421, "rate_limited"],
  ["message", "EENVELOPE", 451, "rate_limited"],
  ["message", "EENVELOPE", 550, "invalid"],
  ["message", "EENVELOPE", undefined, "invalid"],
  ["message", "ETIMEDOUT", undefined, "unknown_outcome"],
  ["message", "ECONNECTION", undefined, "unknown_outcome"]
] as const)("a failure of stage %s with %s and %s is %s", (stage, code, response, reason) => {
  expect(toMailError({ stage, code, response }).reason).toBe(reason)
})
