#!/usr/bin/env bash
# vcffilter of vcflib finds records without a depth by DP < 10, and those without an allele frequency by AF < 0.1.
#
# Expected: a record that does not say its depth passes neither DP < 10 nor DP > 10, as in bcftools, where a missing number passes no
#   comparison with a number.
# Seen: a missing value, or ".", counts as 0, QUAL too. So a filter for rare alleles returns those of unknown frequency beside them,
#   and DP = 0 finds records without DP. Its help says nothing of missing values. No warning.
# Versions: libvcflib-tools 1.0.3, bcftools 1.16 of Debian 12. Date: 2026-12-01.
# Output seen:
#   DP < 10    vcffilter: low dot none    bcftools: low
#   DP > 10    vcffilter: high            bcftools: high
#   DP = 0     vcffilter: dot none        bcftools: -
#   AF < 0.1   vcffilter: low dot none    bcftools: low
#   QUAL < 10  vcffilter: dot             bcftools: -
set -euo pipefail
version() { dpkg-query -W -f '${Version}' "$1" 2> /dev/null || true; }
case "$(version libvcflib-tools) $(version bcftools)" in
    1.0.3+*' '1.16-*) ;;
    *) echo 'this needs libvcflib-tools 1.0.3 and bcftools 1.16, as in Debian 12 (apt-get install libvcflib-tools bcftools)'; exit 2 ;;
esac
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
{
    printf '##fileformat=VCFv4.2\n##contig=<ID=chr1>\n'
    printf '##INFO=<ID=DP,Number=1,Type=Integer,Description="Depth">\n##INFO=<ID=AF,Number=A,Type=Float,Description="Frequency">\n'
    printf '#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n'
    printf 'chr1\t1\tlow\tA\tC\t50\tPASS\tDP=5;AF=0.01\n'
    printf 'chr1\t2\thigh\tA\tC\t50\tPASS\tDP=30;AF=0.5\n'
    printf 'chr1\t3\tdot\tA\tC\t.\tPASS\tDP=.;AF=.\n'
    printf 'chr1\t4\tnone\tA\tC\t50\tPASS\t.\n'
} > records.vcf

check() {
    local filter=$1 expected=$2 other=$3 seen found
    seen=$(vcffilter -f "$filter" records.vcf | grep -v '^#' | cut -f 3 | paste -s -d ' ')
    found=$(bcftools view -H -i "$filter" records.vcf | cut -f 3 | paste -s -d ' ')
    printf '%-10s vcffilter: %-15s bcftools: %s\n' "$filter" "${seen:--}" "${found:--}"
    [ "$seen" = "$expected" ] || { echo "vcffilter of $filter changed"; exit 1; }
    [ "$found" = "$other" ] || { echo "bcftools of $filter changed"; exit 1; }
}

check 'DP < 10' 'low dot none' low
check 'DP > 10' high high
check 'DP = 0' 'dot none' ''
check 'AF < 0.1' 'low dot none' low
check 'QUAL < 10' dot ''
