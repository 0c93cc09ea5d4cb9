import type * as PromClient from 'prom-client';

/* eslint-disable @typescript-eslint/no-require-imports -- only what is used: the index also loads OpenTelemetry */
export const Counter = require('prom-client/lib/counter') as typeof PromClient.Counter;
export const Gauge = require('prom-client/lib/gauge') as typeof PromClient.Gauge;
export const Histogram = require('prom-client/lib/histogram') as typeof PromClient.Histogram;
export const Registry = require('prom-client/lib/registry') as typeof PromClient.Registry;

type AddMetrics = (registry: PromClient.Registry) => void;
export const addEventLoopMetrics = require('prom-client/lib/metrics/eventLoopLag') as AddMetrics;
export const addMemoryMetrics = require('prom-client/lib/metrics/osMemoryHeap') as AddMetrics;
