/**
 * Parts of requests that are read without a login, and the output of a program in a sandbox. The first character chooses what is read.
 */
import { inEnglish } from "../../../src/text/en.ts"
import { checkBody, maxDepth } from "../../../src/admin/http/RequestRules.ts"
import { tokenIn } from "../../../src/admin/sessions/Sessions.ts"
import { measureJson } from "../../../src/domain/JsonShape.ts"
import { clientAddresses, clientKey } from "../../../src/ingress/ClientAddress.ts"
import { parseRoute } from "../../../src/ingress/Routes.ts"
import { FrameParser } from "../../../src/sandbox/container/Demultiplex.ts"
import { maxLineChars, OutputLines, StderrTail, findExit } from "../../../src/sandbox/drivers/Supervise.ts"
import type { FuzzTarget } from "../Target.ts"
import { bytes, ensure, text } from "../Target.ts"

const proxies = [clientAddresses(true), clientAddresses(["loopback", "10.0.0.0/8", "fc00::/7"])]

const forwarded = (input: Uint8Array): void => {
  const value = text(input)
  for (const { clientOf } of proxies) {
    const client = clientOf("::ffff:127.0.0.1", value)
    ensure(client.length <= 100, "an address of a client is bounded")
    ensure(clientKey(clientKey(client).replace("::/64", "::")) === clientKey(client), "a key is that of its network")
  }
}

const administration = (input: Uint8Array): void => {
  const problem = checkBody(input, "application/json", true)
  if (problem === undefined && input.length > 0)
    ensure(
      measureJson(text(input), { depth: maxDepth, values: input.length + 2 }) !== undefined,
      "the depth is bounded"
    )
  const value = text(input)
  const token = tokenIn(value)
  ensure(token === undefined || token.length === 64, "a token has one spelling")
  parseRoute("/prefix", `/prefix/api/${value}`)
}

const request: FuzzTarget = {
  name: "request-parts",
  seeds: () => [
    bytes("0203.0.113.9, 10.0.0.1, [2001:db8::1%eth0]:443"),
    bytes('1{"workspace":"app","reason":["\\ud800",{"a":{}}]}'),
    bytes(`1Bearer ${"0".repeat(64)}`)
  ],
  words: ["::ffff:", "fe80::1%", ", ", "]:", "{", "[", '":', "\\u0000", "Bearer ", "../", "%2f"],
  check: (input) => (((input[0] ?? 0) & 1) === 0 ? forwarded : administration)(input.subarray(1))
}

const nonce = "aicr-nonce "
const limits = { memoryBytes: 1, cpus: 1, processes: 1, fileBytes: 1, outputBytes: 1, timeMillis: 1 }

/** Chunks of a length that the input decides, as pipes deliver them. */
const chunksOf = (input: Uint8Array): ReadonlyArray<Buffer> => {
  const length = 1 + (input[0] ?? 0)
  const rest = Buffer.from(input.subarray(1))
  return Array.from({ length: Math.ceil(rest.length / length) }, (_, at) =>
    rest.subarray(at * length, (at + 1) * length)
  )
}

const sandbox: FuzzTarget = {
  name: "sandbox-output",
  seeds: () => [
    bytes('!{"type":"text"}\nnot json\n\n'),
    bytes(`!words\n${nonce}{"code":0}\n`),
    bytes(`!${nonce}{"limit":"memory"}\n`),
    Buffer.concat([bytes("!"), Buffer.from([1, 0, 0, 0, 0, 0, 0, 2, 0x61, 0x0a, 2, 0, 0, 0, 0, 0, 0, 1, 0x62])])
  ],
  words: [nonce, '{"code":', '{"limit":"time"}', '{"failure":', "\n", "\u0001\0\0\0\0\0\0\u0004", "\u0002\0\0\0"],
  check: (input) => {
    const [parser, lines, stderr] = [new FrameParser(), new OutputLines(), new StderrTail(nonce)]
    let [received, passed] = [0, 0]
    for (const chunk of chunksOf(input)) {
      received += chunk.length
      for (const { content } of parser.parse(chunk)) passed += content.length
      for (const line of lines.add(chunk.toString("latin1"))) {
        ensure(line.length <= maxLineChars && !line.includes("\n"), "a line is bounded")
      }
      stderr.add(chunk)
    }
    ensure(passed <= received, "no more is passed on than arrives")
    ensure(stderr.text().length <= 16_384, "the last part of stderr is bounded")
    const exit = findExit(limits, undefined, stderr.report(), { code: 1 }, stderr.text())
    ensure(exit.reason !== "exited" || (exit.code >= 0 && exit.code <= 255), "an exit code is one of a program")
    ensure(exit.reason === "exited" || inEnglish(exit.why) !== "", "an end has a reason")
  }
}

export const outsiders: ReadonlyArray<FuzzTarget> = [request, sandbox]
