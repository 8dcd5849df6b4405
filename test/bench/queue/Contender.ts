/**
 * What a contender of the queue benchmark does, each in a process of its own: ordered by message, answered with seconds. All of
 * them carry the same work.
 */

export interface Order {
  /** `adds`: one each, `width` under way at once. `bulk`: `width` in one call. `cycles`: from adding to done. */
  readonly what: "adds" | "bulk" | "cycles"
  readonly count: number
}
export type Answer = { readonly seconds: number } | { readonly error: string }

/** Calls under way at once, and items of one bulk call. */
const width = 512
/** Reviews at once while cycles are measured. */
export const slots = 64
/** Workspaces that the work of aicr is spread over; the others know nothing like it. */
export const workspaces = 16

let serial = 0
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

/** Runs `call` so many times, `width` at once. */
export const spread = async (count: number, call: () => Promise<unknown>): Promise<void> => {
  let begun = 0
  const lane = async () => {
    while (begun++ < count) await call()
  }
  await Promise.all(Array.from({ length: Math.min(width, count) }, lane))
}

/** `call` adds so many at once. */
export const inBulk = async (count: number, call: (some: number) => Promise<unknown>): Promise<void> => {
  for (let left = count; left > 0; left -= width) await call(Math.min(width, left))
}

export const serve = (take: Readonly<Record<Order["what"], (count: number) => Promise<void>>>): void => {
  const answer = (message: Answer) => process.send?.(message)
  process.on("message", ({ what, count }: Order) => {
    const began = performance.now()
    take[what](count).then(
      () => answer({ seconds: (performance.now() - began) / 1000 }),
      (error: unknown) => answer({ error: String(error) })
    )
  })
  process.on("disconnect", () => process.exit(0))
  process.send?.({ ready: true })
}
