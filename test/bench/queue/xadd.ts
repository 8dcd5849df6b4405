/** The ceiling of a journal in Redis: messages of the size of an admission, pipelined, with nothing decided. `xadd.ts redis URL`. */
import { Redis } from "ioredis"
import { inBulk, nextChange, serve, spread } from "./Contender.ts"

const redis = new Redis(process.argv[3] ?? "")
const make = () => JSON.stringify({ eventId: crypto.randomUUID(), change: nextChange(), configHash: "c".repeat(64) })
const add = (text: string) => redis.xadd("{ceiling}:log", "*", "rows", text)

serve(make, {
  adds: (all) => spread(all, add),
  bulk: (all) => inBulk(all, (some) => Promise.all(some.map(add))),
  cycles: () => Promise.reject(new Error("it does nothing but add"))
})
