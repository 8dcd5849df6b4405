/**
 * Sends messages by e-mail over SMTP. The URL of the server contains its login: it never appears in errors or logs. A server without TLS gets
 * neither the login nor a message, unless the channel permits it. A message whose end got no response counts as sent.
 */
import { Duration, Effect, Redacted } from "effect"
import type { Reason } from "../../domain/Reason.ts"
import { ForgeError } from "../../forge/ForgeError.ts"
import { ResponseTimeout } from "../../forge/ResponseTimeout.ts"
import { ChannelMissing } from "../channels/Channel.ts"
import { platforms } from "./BotMessage.ts"
import { pacedChat } from "./ChatPacing.ts"
import type { MessageSender } from "./MessageSend.ts"

const operation = "send e-mail"
const gap = Duration.seconds(1)
const defaultWaitMillis = 60_000

interface MailServer {
  readonly host: string
  readonly port: number
  /** TLS from the start, instead of STARTTLS. */
  readonly secure: boolean
  readonly login: { readonly user: string; readonly pass: string } | undefined
}

const decoded = (part: string): string | undefined => {
  try {
    return decodeURIComponent(part)
  } catch {
    return undefined
  }
}

/** Parses `smtp://[user:password@]host[:port]` or `smtps://…`; undefined for other text, and for paths and options. */
export const parseMailServer = (text: string): MailServer | undefined => {
  if (!URL.canParse(text)) return undefined
  const { hash, hostname, password, pathname, port, protocol, search, username } = new URL(text)
  const [user, pass] = [decoded(username), decoded(password)]
  const isBare = (pathname === "" || pathname === "/") && search === "" && hash === ""
  if (!/^smtps?:$/.test(protocol) || hostname === "" || !isBare || user === undefined || pass === undefined)
    return undefined
  const secure = protocol === "smtps:"
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (secure ? 465 : 587) : Number(port),
    secure,
    login: user === "" ? undefined : { user, pass }
  }
}

interface Mail {
  readonly from: string
  readonly to: ReadonlyArray<string>
  readonly messageId: string
  readonly subject: string
  readonly text: string
}

/** A failure: `open` before the message was begun, `message` after. */
interface MailFailure {
  readonly stage: "open" | "message"
  /** Code of the client, such as ETLS. */
  readonly code: string
  /** Code of the response of the server. */
  readonly response: number | undefined
}

const toError = (reason: ForgeError["reason"], why: Reason): ForgeError =>
  new ForgeError({
    reason,
    operation,
    why,
    ...(reason === "rate_limited" ? { retryAfterMillis: defaultWaitMillis } : {})
  })

/** Failures of the client itself, before anything was sent. */
const ownFailures = new Set(["EENVELOPE", "EMESSAGE"])

export const toMailError = ({ code, response, stage }: MailFailure): ForgeError => {
  if (code === "ETLS") return toError("invalid", { _tag: "MailWithoutTls" })
  if (response !== undefined && response >= 400 && response < 500)
    return toError("rate_limited", { _tag: "MailDeferred", code: response })
  if (code === "EAUTH") return toError("invalid", { _tag: "MailLoginRefused" })
  if (response !== undefined) return toError("invalid", { _tag: "MailRefused", code: response })
  if (stage === "open") return toError("unavailable", { _tag: "MailUnreachable", error: code })
  return ownFailures.has(code)
    ? toError("invalid", { _tag: "MailRefused", code: 0 })
    : toError("unknown_outcome", { _tag: "MailSilent" })
}

/** The client keeps the code of a system error, such as ECONNREFUSED, apart. */
const readFailure = (stage: MailFailure["stage"], error: unknown): MailFailure => {
  const fields = typeof error === "object" && error !== null ? error : {}
  const code = "originalCode" in fields ? fields.originalCode : "code" in fields ? fields.code : ""
  return {
    stage,
    code: String(code),
    response: "responseCode" in fields && typeof fields.responseCode === "number" ? fields.responseCode : undefined
  }
}

const compose = async ({ from, messageId, subject, text, to }: Mail): Promise<Buffer> => {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer")
  const headers = { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" }
  return new MailComposer({
    from,
    to: [...to],
    subject,
    text,
    messageId,
    headers,
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true
  })
    .compile()
    .build()
}

/** Returns the number of recipients that the server refused, of several. */
const deliver = async (
  { login, ...server }: MailServer,
  mail: Mail,
  { isPlain, millis, signal }: { readonly isPlain: boolean; readonly millis: number; readonly signal: AbortSignal }
): Promise<number> => {
  const message = await compose(mail)
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection")
  const connection = new SMTPConnection({
    ...server,
    requireTLS: !server.secure && !isPlain,
    ignoreTLS: isPlain,
    connectionTimeout: millis,
    greetingTimeout: millis,
    socketTimeout: millis,
    dnsTimeout: millis
  })
  let stage: MailFailure["stage"] = "open"
  const close = () => connection.close()
  signal.addEventListener("abort", close)
  try {
    return await new Promise<number>((resolve, reject) => {
      connection.on("error", reject)
      connection.on("end", () => reject(new Error("closed")))
      const send = () => {
        stage = "message"
        connection.send({ from: mail.from, to: [...mail.to] }, message, (error, info) =>
          error === null || error === undefined ? resolve(info?.rejected.length ?? 0) : reject(error)
        )
      }
      connection.connect((error) => {
        if (error !== undefined && error !== null) reject(error)
        else if (login === undefined) send()
        else
          connection.login({ ...login, credentials: login }, (failure) => (failure === null ? send() : reject(failure)))
      })
    })
  } catch (error) {
    throw readFailure(stage, error)
  } finally {
    signal.removeEventListener("abort", close)
    connection.quit()
  }
}

const isFailure = (error: unknown): error is MailFailure =>
  typeof error === "object" && error !== null && "stage" in error && "response" in error

const sendMail = Effect.fnUntraced(function* (channel: string, server: MailServer, isPlain: boolean, mail: Mail) {
  const millis = Duration.toMillis(yield* ResponseTimeout)
  const rejected = yield* Effect.tryPromise({
    try: (signal) => deliver(server, mail, { isPlain, millis, signal }),
    catch: (error) => toMailError(isFailure(error) ? error : readFailure("open", error))
  })
  if (rejected > 0)
    yield* Effect.logWarning("e-mail not delivered to some recipients", { channel, recipients: rejected })
})

export const emailSend: MessageSender = Effect.fnUntraced(function* (context) {
  const { channel, credential } = context
  const url = credential(channel, "smtp_url")
  const { from, to = [] } = channel
  if (url === undefined || from === undefined || to.length === 0)
    return yield* new ChannelMissing({ why: { _tag: "NoMailServer", channel: channel.name } })
  const server = parseMailServer(Redacted.value(url))
  return {
    keyMillis: 0,
    send: ({ body, severity, title }, key) => {
      if (server === undefined) return Effect.fail(toError("invalid", { _tag: "MailUrlInvalid" }))
      const { subject, text } = platforms.email.message({ title, body, severity })
      const mail: Mail = { from, to, messageId: `<${key}@${from.split("@").at(-1) ?? "aicr"}>`, subject, text }
      const request = sendMail(channel.name, server, channel.smtp_plaintext === true, mail)
      return pacedChat(["email", server.host, String(server.port), from], gap, operation, request)
    }
  }
})
