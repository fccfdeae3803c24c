// mqtt.js, driven by lines of JSON on stdin; answers and events are lines on stdout. See tests/stock/with_mqttjs.py.
'use strict'
const fs = require('fs')
const readline = require('readline')
const mqtt = require(process.argv[2])

const links = new Map()
const say = (what) => process.stdout.write(JSON.stringify(what) + '\n')
const bytes = (text) => Buffer.from(text, 'base64')

function inBytes (properties) {
  if (properties && properties.correlationData) properties.correlationData = bytes(properties.correlationData)
  return properties
}

const verbs = {
  connect (link, what, done) {
    const options = { ...what.options, keepalive: 60 }
    if (what.ca) options.ca = fs.readFileSync(what.ca)
    if (options.password) options.password = Buffer.from(options.password)
    const client = mqtt.connect(what.url, options)
    let answered = false
    let reason = null
    const answer = (refused) => {
      if (!answered) done({ refused })
      answered = true
    }
    links.set(link, client)
    client.on('connect', (packet) => {
      say({ link, event: 'connect', present: packet.sessionPresent })
      answer(null)
    })
    client.on('error', (error) => answer(error.code))
    client.on('disconnect', (packet) => { reason = packet.reasonCode })
    client.on('close', () => say({ link, event: 'lost', reason }))
    client.on('message', (topic, payload, packet) => {
      const properties = { ...packet.properties }
      if (properties.correlationData) properties.correlationData = properties.correlationData.toString('base64')
      say({
        link, event: 'message', topic, payload: payload.toString('base64'), qos: packet.qos, retain: packet.retain, properties
      })
    })
  },
  subscribe (link, what, done) {
    links.get(link).subscribe(what.filter, what.options, (error, granted, packet) => {
      done({ granted: packet ? packet.granted[0] : error.code })
    })
  },
  unsubscribe (link, what, done) {
    links.get(link).unsubscribe(what.filter, (error) => done(error ? { error: String(error) } : {}))
  },
  publish (link, what, done) {
    inBytes(what.options.properties)
    const answer = (error) => done(error ? { error: String(error) } : {})
    links.get(link).publish(what.topic, bytes(what.payload), what.options, answer)
  },
  sever (link, what, done) {
    links.get(link).stream.destroy()
    done({})
  },
  close (link, what, done) {
    const client = links.get(link)
    client.end(!client.connected, {}, () => done({}))
  }
}

readline.createInterface({ input: process.stdin })
  .on('line', (line) => {
    const what = JSON.parse(line)
    verbs[what.verb](what.link, what, (answer) => say({ number: what.number, ...answer }))
  })
  .on('close', () => process.exit(0))
