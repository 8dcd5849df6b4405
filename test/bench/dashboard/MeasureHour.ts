/**
 * An hour of a page that is open while 50 reviews run, in some minutes: its clock runs faster, events of every kind arrive at the rate of such an hour,
 * and the stream ends and begins again every quarter of it.
 */
import type { BrowserContext } from "playwright-core"
import type { EventProxy } from "../../harness/EventProxy.ts"
import { waitUntil } from "../../harness/Wait.ts"

const stepSeconds = 10
const steps = 3600 / stepSeconds
/** Every running review causes an event in ten seconds. */
const eventsPerStep = 50
/** Steps before the first measurement: caches of the page are full by then. */
const warmSteps = steps / 6
const stepsPerStream = 900 / stepSeconds
const mebibyte = 1024 * 1024

/** Returns the growth of the heap in MiB from the tenth minute to the end of the hour, each time after a collection of garbage. */
export const measureHour = async (
  context: BrowserContext,
  proxy: EventProxy,
  path: string,
  run: string | undefined
): Promise<number> => {
  const page = await context.newPage()
  await page.clock.install()
  await page.goto(`${proxy.url}/dashboard${path}`)
  await page.locator("#content h1").waitFor()
  await waitUntil(() => proxy.streams > 0, { describe: () => "no stream of live events" })
  const session = await context.newCDPSession(page)
  const heap = async (): Promise<number> => {
    await session.send("HeapProfiler.collectGarbage")
    return (await session.send("Runtime.getHeapUsage")).usedSize / mebibyte
  }
  let before = Number.NaN
  for (let step = 1; step <= steps; step++) {
    await proxy.send(eventsPerStep, run)
    await page.clock.runFor(stepSeconds * 1000)
    if (step % stepsPerStream === 0) proxy.endStreams()
    if (step === warmSteps) before = await heap()
  }
  const after = await heap()
  process.stderr.write(
    `${path}: heap of ${before.toFixed(1)} MiB after ten minutes, ${after.toFixed(1)} MiB after an hour with ${steps * eventsPerStep} events\n`
  )
  await page.close()
  return after - before
}
