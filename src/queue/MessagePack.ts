/**
 * MessagePack, as the queue's scripts in Redis speak it (cmsgpack): a script reads and writes it in a fraction of the time that as many
 * strings of Redis' own protocol take.
 */
import { Decoder, Encoder } from "@msgpack/msgpack"

export type Packable = boolean | number | string | ReadonlyArray<Packable>

const encoder = new Encoder()
const decoder = new Decoder()

/** Values after each other. */
export const pack = (values: ReadonlyArray<Packable>): Buffer =>
  Buffer.concat(values.map((value) => encoder.encode(value)))

/** Throws when it is not one complete value. */
export const unpack = (bytes: Buffer): unknown => decoder.decode(bytes)
