/** The faults of the chaos series. Each begins, lasts for a while and ends within one call. */
import type { Reply } from "../../harness/FakeModelReply.ts"
import { faults as replies } from "../../harness/FakeModel.ts"
import type { ClusterInstallation } from "../../harness/ClusterInstallation.ts"
import type { SetClock } from "../../harness/SetClock.ts"
import type { SmallDisk } from "../../harness/SmallDisk.ts"
import { waitUntil } from "../../harness/Wait.ts"

export interface ChaosWorld {
  readonly at: ClusterInstallation
  /** Roles of each node by name. */
  readonly nodes: Readonly<Record<string, string>>
  readonly queue: "nats" | "redis"
  /** The clock of one node. */
  readonly clock: SetClock
  /** The disk with the working copies of one node; undefined without permission to mount it. */
  readonly disk: SmallDisk | undefined
  /** Duration of a fault that does not end by itself. */
  readonly lastsMillis: number
  /** Duration of a freeze: longer than a lease. */
  readonly freezeMillis: number
  readonly choose: <A>(list: ReadonlyArray<A>) => A
  /** Called when a node loses what its memory has: calls of models whose reply is not stored may be repeated. */
  readonly interrupt: (node: string) => Promise<void>
  /** Sets the behaviour of the model; undefined: it replies. */
  setModel: (behaviour: ((reply: Reply) => Promise<Reply>) | undefined) => void
  /** Adds a workspace to the configurations, node by node, and delivers a change of it to the first node that has it. */
  readonly addWorkspace: () => Promise<void>
}

type Fault = (world: ChaosWorld) => Promise<void>

export const elapse = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

const withRole = ({ choose, nodes }: ChaosWorld, role: string): string =>
  choose(
    Object.entries(nodes).flatMap(([name, roles]) => (roles === "all" || roles.split(",").includes(role) ? [name] : []))
  )

const kill =
  (role: string): Fault =>
  async (world) => {
    const name = withRole(world, role)
    await world.interrupt(name)
    await world.at.node(name).kill()
    await world.at.node(name).start()
  }

const freeze =
  (role: string): Fault =>
  async (world) => {
    const name = withRole(world, role)
    await world.interrupt(name)
    world.at.node(name).freeze()
    await elapse(world.freezeMillis)
    world.at.node(name).thaw()
  }

/** The model behaves so for the duration of a fault. */
const model =
  (behaviour: (reply: Reply, ended: Promise<void>) => Promise<Reply>): Fault =>
  async ({ lastsMillis, setModel }) => {
    const ended = elapse(lastsMillis)
    setModel((reply) => behaviour(reply, ended))
    await ended
    setModel(undefined)
  }

export const faults = {
  "a node that takes deliveries is killed": kill("ingress"),
  "a node that reviews is killed": kill("executor"),
  "a node that schedules is killed": kill("actors"),
  "a node that publishes is killed": kill("publisher"),
  "a node that reviews freezes": freeze("executor"),
  "a node that schedules freezes": freeze("actors"),
  "NATS is killed": async ({ at }) => {
    await at.nats.kill()
    await at.nats.start()
  },
  "NATS is cut off": async ({ at, lastsMillis }) => {
    at.line.cut()
    await elapse(lastsMillis)
    at.line.mend()
  },
  "NATS loses its data": async ({ at, interrupt, nodes, queue }) => {
    // With the queue its leases are lost, so that the reviews that run start again.
    if (queue === "nats") for (const name of Object.keys(nodes)) await interrupt(name)
    await at.nats.kill()
    at.nats.loseData()
    await at.nats.start()
  },
  "Postgres is unavailable": async ({ at, lastsMillis }) => {
    await at.postgres.stop()
    await elapse(lastsMillis)
    await at.postgres.start()
  },
  "Redis is unavailable": async ({ at, lastsMillis }) => {
    await at.redis.kill()
    await elapse(lastsMillis)
    await at.redis.start()
  },
  "the clock of a node is an hour off": async ({ choose, clock, lastsMillis }) => {
    clock.set(choose([3600, -3600]))
    await elapse(lastsMillis)
    clock.set(0)
  },
  "a node that reviews has a full disk": async ({ disk, lastsMillis }) => {
    if (disk === undefined) throw new Error("no permission to mount a small disk")
    disk.fill()
    await elapse(lastsMillis)
    disk.free()
  },
  "the model refuses requests": model(() => Promise.resolve(replies.rateLimited("1"))),
  "the model stalls": model(async (reply, ended) => {
    await ended
    return reply
  }),
  "a workspace is added to the configuration": ({ addWorkspace }) => addWorkspace()
} satisfies Record<string, Fault>
export type FaultName = keyof typeof faults

const isFaultName = (name: string): name is FaultName => name in faults
export const faultNames: ReadonlyArray<FaultName> = Object.keys(faults).filter(isFaultName)

/** Waits until the process of a node uses the configuration that was written last. */
export const configured = async (at: ClusterInstallation, name: string, write: () => Promise<void>): Promise<void> => {
  const count = () => at.node(name).log.split("configuration in force").length
  const before = count()
  await write()
  await waitUntil(() => count() > before, { timeout: 60_000, describe: () => at.node(name).log.slice(-4000) })
}
