/**
 * The interface of a contender of the queue benchmarks, in one process or several: a first message prepares an order, a second
 * one starts it, and the reply is the seconds it took. All contenders carry the same work.
 */

export interface Order {
  /** `adds`: one call each, `width` in flight. `bulk`: `width` in one call. `cycles`: from adding to done. */
  readonly what: "adds" | "bulk" | "cycles"
  readonly count: number
}
export type Answer = { readonly seconds: number } | { readonly error: string }
/** The payloads of an order are made. */
export interface Prepared {
  readonly prepared: true
}
/** Starts the clock. */
export const begin = "begin"

/** Calls in flight, and items of one bulk call. */
const width = 512
/** Concurrent reviews while cycles are measured. */
export const slots = 64
/** Workspaces that the work of aicr is distributed over; the others have no such concept. */
export const workspaces = 16

/** Index of this process among the processes of a contender. Each has changes of its own. */
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

/** Executes `call` for each, `width` concurrently. */
export const spread = async <A>(items: ReadonlyArray<A>, call: (item: A) => Promise<unknown>): Promise<void> => {
  const left = items.values()
  const lane = async () => {
    for (const item of left) await call(item)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane))
}

/** Adds in chunks: each `call` adds several. */
export const inBulk = async <A>(
  items: ReadonlyArray<A>,
  call: (some: ReadonlyArray<A>) => Promise<unknown>
): Promise<void> => {
  for (let at = 0; at < items.length; at += width) await call(items.slice(at, at + width))
}

/** Collects garbage twice: objects that survive two minor collections are old. */
const settle = (): void => {
  for (let times = 0; times < 2; times++) void globalThis.gc?.({ type: "minor", execution: "sync" })
}

type Contender<A> = Readonly<Record<Order["what"], (items: ReadonlyArray<A>) => Promise<void>>>

/**
 * Makes the payloads before the clock starts: `make` is the work of the deliveries, not of the queue. A copy has its strings in
 * one piece each, like a parsed payload; strings concatenated here would be flattened by their first reader. The copies are old
 * for the garbage collector, which would otherwise copy all of them during the measurement; garbage of a contender is collected
 * during the measurement.
 */
export const serve = <A>(make: (what: Order["what"]) => A, contender: Contender<A>): void => {
  const answer = (message: Answer | Prepared) => process.send?.(message)
  const prepare = ({ what, count }: Order): (() => Promise<void>) => {
    const items = structuredClone(Array.from({ length: count }, () => make(what)))
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
      () => answer({ seconds: (performance.now() - began) / 1000 }),
      (error: unknown) => answer({ error: String(error) })
    )
  })
  process.on("disconnect", () => process.exit(0))
  process.send?.({ ready: true })
}
