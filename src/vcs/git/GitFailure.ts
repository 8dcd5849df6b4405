/** Converts git's messages on stderr to a `VcsError` reason; no other file does. */
import { redactCredentials } from "../../domain/RedactCredentials.ts"
import type { Reason } from "../../domain/Reason.ts"
import { CheckoutError } from "../Checkout.ts"
import { programFailed } from "../process/ProgramFailed.ts"

type Kind = CheckoutError["reason"]

/** Patterns in order of precedence. The texts are git's own in the C locale, which the environment sets. */
const table: ReadonlyArray<readonly [RegExp, Kind]> = [
  [/Permission denied/i, "failed"],
  // Some messages about a write lack the error of the system.
  [/No space left on device|Out of diskspace|Disk quota exceeded|Read-only file system|Input\/output error/i, "disk"],
  [/(couldn't|could not|unable to|failed to) write|write error/i, "disk"],
  [
    /Authentication failed|could not read (Username|Password)|returned error: 40[13]|HTTP Basic: Access denied/i,
    "unauthorized"
  ],
  [/not our ref|unadvertised object|couldn't find remote ref|no such remote ref/i, "absent"],
  [/repository '.*' not found|returned error: 404|does not appear to be a git repository/i, "missing"],
  [
    /bad object|Not a valid (commit|object) name|unknown revision|bad revision|invalid object|unable to read|bad source/i,
    "missing"
  ],
  [/trying to write ref .{0,500} with nonexistent object|not a valid SHA1|nonexistent object/i, "missing"],
  [/no such path|has only \d+ lines?/i, "missing"],
  [
    /Could not resolve (host|proxy)|Failed to connect|Couldn't connect|Connection (refused|reset|timed out)/i,
    "unreachable"
  ],
  [/returned error: (5\d\d|429|408)|early EOF|RPC failed|hung up unexpectedly|unexpected disconnect/i, "unreachable"],
  [
    /Operation timed out|Operation too slow|transfer closed|Empty reply from server|expected flush|Recv failure/i,
    "unreachable"
  ]
]

/** Git reads neither the settings of node nor NODE_EXTRA_CA_CERTS. */
const adviceFor = (stderr: string): Reason | undefined =>
  /certificate verif|certificate problem|certificate signer/i.test(stderr) ? { _tag: "TrustForGit" } : undefined

const classify = (stderr: string): Kind => table.find(([pattern]) => pattern.test(stderr))?.[1] ?? "failed"

/** Redacts credentials: user info in URLs, and the secrets that were passed to git. */
export const redact = (text: string, secrets: ReadonlyArray<string>): string =>
  redactCredentials(text.replace(/\/\/[^/\s@]+@/g, "//***@"), secrets)

/** Returns git's message without progress and hints, short enough for a log line and a run record. */
export const gitFailure = (command: string, stderr: string, secrets: ReadonlyArray<string>): CheckoutError => {
  const lines = stderr
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^(hint:|warning:|remote: (Enumerating|Counting|Compressing|Total))/.test(line))
  const said = redact(lines.slice(-4).join("; "), secrets).slice(0, 600)
  return new CheckoutError({
    reason: classify(stderr),
    why: programFailed(`git ${command}`, said, adviceFor(stderr))
  })
}
