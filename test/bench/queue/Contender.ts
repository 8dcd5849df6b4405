/**
 * What a contender of the queue benchmarks does, in a process of its own or in several: ordered by message, begun by a second one, answered
 * with seconds. All of them carry the same work.
 */

export interface Order {
  /** `adds`: one each, `width` under way at once. `bulk`: `width` in one call. `cycles`: from adding to done. */
  readonly what: "adds" | "bulk" | "cycles"
  readonly count: number
}
/** `counts`: what the contender counted besides, since the order came. */
export type Answer =
  | { readonly seconds: number; readonly counts: Readonly<Record<string, number>> }
  | { readonly error: string }
/** Everything that an order needs is made. */
export interface Prepared {
  readonly prepared: true
}
/** Starts the clock. */
export const begin = "begin"

/** Calls under way at once, and items of one bulk call. */
const width = 512
/** Reviews at once while cycles are measured. */
export const slots = 64
/** Workspaces that the work of aicr is spread over; the others know nothing like it. */
export const workspaces = 16

/** Which of several processes of a contender this is. Each has changes of its own. */
export const node = process.argv[4] ?? "0"
let serial = Number(node) * 100_000_000
/** A pull request's change, as an ingress makes it of a delivery: 600 bytes of JSON. */
export const nextChange = () => {
  const number = ++serial
  const workspace = `workspace-${number % workspaces}`
  const web = `https://git.example/acme/${workspace}`
  return {
    provider: "gitea" as const,
    trigger: "main",
    workspace,
    repo: { fullName: `acme/${workspace}`, cloneUrl: `${web}.git`, webUrl: web },
    target: { kind: "pull_request" as const, number },
    head: number.toString(16).padStart(40, "0"),
    base: "b".repeat(40),
    headRef: `feature-${number}`,
    baseRef: "main",
    title: `Change number ${number}`,
    url: `${web}/pulls/${number}`,
    author: { username: "ada" }
  }
}

/** Runs `call` for each, `width` at once. */
export const spread = async <A>(items: ReadonlyArray<A>, call: (item: A) => Promise<unknown>): Promise<void> => {
  const left = items.values()
  const lane = async () => {
    for (const item of left) await call(item)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane))
}

/** `call` adds so many at once. */
export const inBulk = async <A>(
  items: ReadonlyArray<A>,
  call: (some: ReadonlyArray<A>) => Promise<unknown>
): Promise<void> => {
  for (let at = 0; at < items.length; at += width) await call(items.slice(at, at + width))
}

/** What survives two minor collections is old. */
const settle = (): void => {
  for (let times = 0; times < 2; times++) void globalThis.gc?.({ type: "minor", execution: "sync" })
}

type Contender<A> = Readonly<Record<Order["what"], (items: ReadonlyArray<A>) => Promise<void>>>

/**
 * What is added is made before the clock starts: `make` is what the deliveries bring, not what the queue does. A copy has its strings in
 * one piece each, as a payload has that was parsed; of those that are put together here, whoever reads them first would do that. It is old to
 * the garbage collector, which would copy all of it on the clock; what a contender leaves behind is collected on the clock.
 */
export const serve = <A>(
  make: (what: Order["what"]) => A,
  contender: Contender<A>,
  counts: Record<string, number> = {}
): void => {
  const answer = (message: Answer | Prepared) => process.send?.(message)
  const prepare = ({ what, count }: Order): (() => Promise<void>) => {
    const items = structuredClone(Array.from({ length: count }, () => make(what)))
    for (const name of Object.keys(counts)) counts[name] = 0
    settle()
    return () => contender[what](items)
  }
  let work: (() => Promise<void>) | undefined
  process.on("message", (message: Order | typeof begin) => {
    if (message !== begin) {
      work = prepare(message)
      answer({ prepared: true })
      return
    }
    const began = performance.now()
    work?.().then(
      () => answer({ seconds: (performance.now() - began) / 1000, counts: { ...counts } }),
      (error: unknown) => answer({ error: String(error) })
    )
  })
  process.on("disconnect", () => process.exit(0))
  process.send?.({ ready: true })
}
