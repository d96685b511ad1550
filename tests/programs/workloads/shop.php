<?php
/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A small web shop without a network, for `make demo`: it routes requests, searches and sorts
   products, renders pages from templates and answers in JSON.  shop.php CPU_SECONDS */

final class Product
{
    public function __construct(
        public readonly int $id,
        public readonly string $name,
        public readonly string $description,
        public readonly int $cents,
        public readonly array $tags,
    ) {
    }

    public function price(): string
    {
        return sprintf('%d.%02d', intdiv($this->cents, 100), $this->cents % 100);
    }
}

final class Catalog
{
    /** @var list<Product> */
    private array $products = [];

    private const ADJECTIVES = ['red', 'quiet', 'folding', 'wooden', 'heavy', 'spare', 'blue', 'small'];
    private const NOUNS = ['chair', 'lamp', 'kettle', 'shelf', 'clock', 'ladder', 'bicycle', 'radio', 'desk'];

    public function __construct(int $size)
    {
        for ($id = 1; $id <= $size; $id++) {
            $adjective = self::ADJECTIVES[$id * 7 % count(self::ADJECTIVES)];
            $noun = self::NOUNS[$id * 5 % count(self::NOUNS)];
            $this->products[] = new Product($id, "$adjective $noun $id",
                "A *$adjective* $noun, see https://example.com/items/$id for **all** of its details.",
                $id * 7919 % 20000 + 99, [$adjective, $noun]);
        }
    }

    /** @return list<Product> */
    public function search(string $query): array
    {
        $found = [];
        $scores = [];
        foreach ($this->products as $product) {
            $score = $this->relevance($product, $query, $scores);
            if ($score > 0) {
                $found[] = [$score, $product];
            }
        }
        usort($found, $this->byRelevance(...));
        return array_map(static fn (array $match): Product => $match[1], array_slice($found, 0, 40));
    }

    private function byRelevance(array $a, array $b): int
    {
        return $b[0] <=> $a[0] ?: $a[1]->cents <=> $b[1]->cents;
    }

    private function relevance(Product $product, string $query, array &$scores): int
    {
        $score = 0;
        foreach ($product->tags as $tag) {
            $score += $scores[$tag] ??= $this->similarity($tag, $query);
        }
        return $score;
    }

    /* Letters that both words have in the same order. */
    private function similarity(string $word, string $query): int
    {
        $rows = strlen($word);
        $columns = strlen($query);
        $above = array_fill(0, $columns + 1, 0);
        for ($i = 0; $i < $rows; $i++) {
            $row = [0];
            for ($k = 0; $k < $columns; $k++) {
                $row[] = $word[$i] === $query[$k] ? $above[$k] + 1 : max($row[$k], $above[$k + 1]);
            }
            $above = $row;
        }
        return $above[$columns] * 2 > $columns ? $above[$columns] : 0;
    }
}

final class Markdown
{
    public function toHtml(string $text): string
    {
        $html = htmlspecialchars($text);
        $html = preg_replace('/\*\*(.+?)\*\*/', '<strong>$1</strong>', $html);
        $html = preg_replace('/\*(.+?)\*/', '<em>$1</em>', $html);
        return preg_replace_callback('~https?://[\w./-]+~', $this->link(...), $html);
    }

    private function link(array $match): string
    {
        return '<a href="' . $match[0] . '">' . basename($match[0]) . '</a>';
    }
}

final class Template
{
    public function __construct(private readonly string $source)
    {
    }

    public function render(array $values): string
    {
        $loops = preg_replace_callback('/{% for (\w+) %}(.*?){% end %}/s',
            fn (array $part): string => $this->renderLoop($values[$part[1]], $part[2]), $this->source);
        return $this->fill($loops, $values);
    }

    private function renderLoop(array $items, string $body): string
    {
        $parts = [];
        foreach ($items as $item) {
            $parts[] = $this->fill($body, $item);
        }
        return implode('', $parts);
    }

    private function fill(string $body, array $values): string
    {
        return preg_replace_callback('/{{ (\w+) }}/',
            static fn (array $name): string => (string) ($values[$name[1]] ?? ''), $body);
    }
}

final class Basket
{
    /** @param list<Product> $products */
    public function total(array $products): int
    {
        $cents = array_sum(array_map(static fn (Product $product): int => $product->cents, $products));
        return $cents - $this->discount($cents, count($products));
    }

    private function discount(int $cents, int $count): int
    {
        $best = 0;
        for ($pieces = 1; $pieces <= $count; $pieces++) {
            $best = max($best, intdiv($cents * min($pieces, 15), 100) - $pieces * 10);
        }
        return $best;
    }
}

final class Shop
{
    private Template $page;
    private Markdown $markdown;
    private Basket $basket;

    public function __construct(private readonly Catalog $catalog)
    {
        $this->markdown = new Markdown();
        $this->basket = new Basket();
        $this->page = new Template('<h1>{{ title }}</h1><ul>{% for items %}'
            . '<li id="{{ id }}"><b>{{ name }}</b> {{ price }} {{ text }}</li>{% end %}</ul>');
    }

    public function handle(string $request): string
    {
        if (preg_match('~^GET /search/(\w+)$~', $request, $match)) {
            return $this->showPage($match[1]);
        }
        if (preg_match('~^GET /api/search/(\w+)$~', $request, $match)) {
            return $this->answerJson($match[1]);
        }
        if (preg_match('~^POST /basket (.+)$~', $request, $match)) {
            return $this->fillBasket($match[1]);
        }
        return 'not found';
    }

    private function showPage(string $query): string
    {
        $items = array_map($this->describe(...), $this->catalog->search($query));
        return $this->page->render(['title' => "Results for $query", 'items' => $items]);
    }

    private function describe(Product $product): array
    {
        return ['id' => $product->id, 'name' => $product->name, 'price' => $product->price(),
            'text' => $this->markdown->toHtml($product->description)];
    }

    private function answerJson(string $query): string
    {
        return json_encode(['query' => $query,
            'items' => array_map($this->describe(...), $this->catalog->search($query))]);
    }

    private function fillBasket(string $body): string
    {
        $order = json_decode($body, true);
        $products = $this->catalog->search($order['like']);
        return json_encode(['total' => $this->basket->total($products), 'sent' => $order]);
    }
}

function requests(int $number): string
{
    static $words = ['chair', 'lamp', 'clock', 'ladder', 'wooden', 'small', 'radio'];
    $word = $words[$number % count($words)];
    return match ($number % 4) {
        0, 1 => "GET /search/$word",
        2 => "GET /api/search/$word",
        3 => 'POST /basket ' . json_encode(['like' => $word, 'notes' => array_fill(0, 200, $word)]),
    };
}

function cpu_seconds(): float
{
    $usage = getrusage();
    return $usage['ru_utime.tv_sec'] + $usage['ru_utime.tv_usec'] / 1e6;
}

function serve(Shop $shop, float $seconds): int
{
    $bytes = 0;
    for ($number = 0; cpu_seconds() < $seconds; $number++) {
        $bytes += strlen($shop->handle(requests($number)));
    }
    return $bytes;
}

echo serve(new Shop(new Catalog(600)), (float) ($argv[1] ?? 8)), " bytes sent\n";
